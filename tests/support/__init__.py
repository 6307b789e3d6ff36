"""What the tests share: problems, optimality conditions, generators, a browser."""
