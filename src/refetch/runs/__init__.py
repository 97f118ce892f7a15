"""Many runs of one task: running them, what each measures, a baseline, and a verdict that holds."""
