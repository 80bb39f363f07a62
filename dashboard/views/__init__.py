"""One thin file per page: it reads the address, asks the core through `data`, and draws with `components`.

The directory is not called `pages`: Streamlit would run a file of such a directory alone, without app.py, whenever the
first address a server is asked for names a page.
"""
