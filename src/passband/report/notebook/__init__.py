"""Values in notebooks: tables and charts that are light or dark as the notebook is."""
