"""What users import: validate, dispatch, store."""
