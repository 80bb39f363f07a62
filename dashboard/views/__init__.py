"""One small module per page: it reads the URL, asks core through `data`, and draws with `components`.

The directory is not called `pages`, because Streamlit would run a file in such a directory on its own, without app.py,
if the first URL requested from a server names a page.
"""
