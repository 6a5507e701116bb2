"""Runs on a local dask cluster and by submitit's local executor: the records of one process, through a kill as well."""

import json
import os
import signal
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from recorded import HERE

from lrnnbook import tables
from lrnnbook.content.tables import records
from lrnnbook.machinery import cli

CALL = "reproduce fwp/table1 --rows lstm --tasks aa --seeds 0-3".split()


def runs():
    return tables.plan("fwp/table1", rows=["lstm"], tasks=["aa"], seeds=range(4))


def plain(found):
    """What a run must give again: neither its times nor where it was made."""
    left_out = ("wall_seconds", "cpu_seconds", "provenance", "recorded", "schema")
    return [{k: v for k, v in json.loads(json.dumps(record)).items() if k not in left_out} for record in found]


@pytest.fixture(scope="module")
def alone():
    return plain(tables.run_all(runs()))


@pytest.fixture(autouse=True)
def same_package(monkeypatch):
    monkeypatch.setenv("PYTHONPATH", HERE)  # of the processes that are started


def test_a_killed_process_is_one_line_and_the_same_call_does_the_rest(tmp_path, alone):
    def kill():
        """All processes, as soon as one of them has recorded a run: then the last runs are not begun."""
        while not [*tmp_path.rglob("*.json"), *tmp_path.rglob("*.jsonl")]:
            time.sleep(0.02)
        for child in children_of(os.getpid()):
            started = Path(f"/proc/{child}/cmdline").read_bytes()
            if b"loky" in started and b"resource_tracker" not in started:
                os.kill(child, signal.SIGKILL)

    with ThreadPoolExecutor(1) as pool:
        killed = pool.submit(kill)
        with pytest.raises(ChildProcessError, match="the same call does the rest"):
            list(tables.run_all(runs(), jobs=2, data=tmp_path))
        killed.result(timeout=60)
    assert plain(tables.run_all(runs(), data=tmp_path)) == alone
    assert len(records.read(tmp_path)) == 4 and not list((tmp_path / "checkpoints").glob("*.pt"))


def test_a_dask_cluster_gives_the_same_records_though_a_worker_dies(tmp_path, alone, capsys):
    distributed = pytest.importorskip("distributed")

    def kill(client):
        """The first worker that has work."""
        while not (busy := [address for address, tasks in client.processing().items() if tasks]):
            time.sleep(0.02)
        os.kill(client.run(os.getpid, workers=busy[:1])[busy[0]], signal.SIGKILL)

    with distributed.LocalCluster(2, threads_per_worker=1, dashboard_address=None) as cluster:
        engine = cluster.scheduler_address.replace("tcp://", "dask://")
        with distributed.Client(cluster) as client, ThreadPoolExecutor(1) as pool:
            killed = pool.submit(kill, client)
            found = list(tables.run_all(runs(), engine=engine, data=tmp_path))
            killed.result(timeout=60)
        assert plain(found) == alone
        assert sum(record["recorded"] for record in found) <= 1  # what the dead worker had just written is read again
        assert cli.main([*CALL, "--engine", engine, "--data", str(tmp_path)]) == 0
    assert "4 runs planned, 4 of them recorded" in capsys.readouterr().err
    assert len(records.read(tmp_path)) == 4


def test_submitit_gives_the_same_records_though_a_job_dies(tmp_path, alone, capsys, monkeypatch):
    submitit = pytest.importorskip("submitit")
    started, submit = [], submitit.LocalExecutor._submit_command

    def noted(self, command):
        started.append(submit(self, command))
        return started[-1]

    monkeypatch.setattr(submitit.LocalExecutor, "_submit_command", noted)
    made = iter(tables.run_all(runs()[:2], jobs=2, engine="local", data=tmp_path))
    killed = []

    def kill():
        """The first of the two, as soon as it does its work."""
        while not started or not (children := children_of(int(started[0].job_id))):
            time.sleep(0.02)
        os.kill(children[0], signal.SIGKILL)
        killed.append(children[0])

    with ThreadPoolExecutor(1) as pool:
        done = pool.submit(kill)
        found = list(made)
        done.result(timeout=60)
    assert plain(found) == alone[:2] and killed and len(started) == 3
    assert cli.main([*CALL[:-1], "0-1", "--engine", "local:timeout_min=9", "--data", str(tmp_path)]) == 0
    assert "2 runs planned, 2 of them recorded" in capsys.readouterr().err and len(started) == 3
    assert len(records.read(tmp_path)) == 2


def children_of(process):
    return [int(child) for child in Path(f"/proc/{process}/task/{process}/children").read_text().split()]
