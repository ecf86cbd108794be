"""A real Kubernetes control plane as plain processes, for end-to-end tests. Start at cluster.py."""
