"""Several addresses of one model as one provider."""
