"""Statistics on few runs: exact tests, intervals, verdicts. Needs the extra `refetch[stats]`.

Nothing here knows traces: samples are numbers, strata are pairs of samples.
"""
