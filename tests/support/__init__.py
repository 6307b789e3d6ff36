"""What the tests share: problems, a judge of solutions, generators, a browser."""
