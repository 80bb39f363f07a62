"""Components of the Query page: saved queries, columns, results, bisect."""
