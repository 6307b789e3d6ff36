"""A user's table: read it, infer its schema, encode it as numbers.

formats     open files, decompress, read formats other than text
read        read_table, read_batches: Arrow tables, text files included
schema      the columns of a model, and tables as frames with these columns
infer       infer_schema: column types, target, target leakage
encoder     TableEncoder: missing values and categories as numbers
weighted    weighted statistics of columns
"""
