"""Campaigns: many random trials of what is promised, bounded in time, every failure kept.

    python -m campaigns --minutes 2 --jobs 2            all of them
    python -m campaigns --only programs,models          some of them

Each campaign is a file with a function ``trial(rng) -> Outcome``, run by ``workers``.  A trial that
fails is saved as a small file in ``tests/instances``, which the suite replays from then on.
Counts go to ``campaigns/counts.json``, from which ``doc/measured/promises.md`` is made by
``python -m campaigns.page``.
"""
