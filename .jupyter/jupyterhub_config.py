"""A JupyterHub for a class on one machine, as notebooks/TEACHING.md explains it.  In the workbook's environment::

    pip install -e '.[book,hub]' && lrnnlab doctor --warm
    LRNNLAB_CLASS=/srv/class LRNNLAB_CLASS_PASSWORD=... jupyterhub -f .jupyter/jupyterhub_config.py

LRNNLAB_CLASS is a folder: of each student it holds a working copy of the chapters, beside it the hub keeps its own
files.  All students run as the account that starts the hub and can read each other's copies: where they must not, take
another spawner (systemd, docker), which also enforces the limits below.
"""

import os
import sys
from pathlib import Path

from lrnnbook.machinery import copies

c = get_config()  # noqa: F821  (traitlets gives it)
project, programs = Path(__file__).resolve().parents[1], Path(sys.executable).parent
place = Path(os.environ.get("LRNNLAB_CLASS", "class")).resolve()
place.mkdir(parents=True, exist_ok=True)
if hasattr(os, "geteuid") and os.geteuid() == 0:
    raise SystemExit("Start the hub from an account of its own: as root each student would be root, too.")

c.JupyterHub.db_url = f"sqlite:///{place / 'jupyterhub.sqlite'}"
c.JupyterHub.cookie_secret_file = str(place / "jupyterhub_cookie_secret")
c.ConfigurableHTTPProxy.command = [str(programs / "configurable-http-proxy")]
c.ConfigurableHTTPProxy.pid_file = str(place / "proxy.pid")

# Who may come in: anybody who knows the class's password.
c.JupyterHub.authenticator_class = "shared-password"
c.SharedPasswordAuthenticator.user_password = os.environ.get("LRNNLAB_CLASS_PASSWORD", "")
c.Authenticator.allow_all = True

# A copy of the chapters for each, from one installation that all read.
c.JupyterHub.spawner_class = "simple"
c.Spawner.cmd = [str(programs / "jupyterhub-singleuser")]
c.SimpleLocalProcessSpawner.home_dir_template = str(place / "{username}")
c.Spawner.notebook_dir = str(place / "{username}" / copies.FOLDER)
c.Spawner.default_url = "/lab/tree/00_start_here.ipynb"
c.Spawner.pre_spawn_hook = lambda spawner: copies.make(place / spawner.user.name / copies.FOLDER, project)
c.Spawner.environment = {"OMP_NUM_THREADS": "1", "JUPYTER_CONFIG_PATH": str(project / ".jupyter")}

# What is idle ends: a kernel after 20 minutes, a server after 30.
c.Spawner.args = ["--MappingKernelManager.cull_idle_timeout=1200", "--MappingKernelManager.cull_connected=True",
                  "--ServerApp.jpserver_extensions=jupyterlab_jupytext=False"]  # fmt: skip
idle = [sys.executable, "-m", "jupyterhub_idle_culler", "--timeout=1800"]
c.JupyterHub.services = [{"name": "idle", "command": idle}]
c.JupyterHub.load_roles = [{"name": "idle", "services": ["idle"],
                            "scopes": ["list:users", "read:users:activity", "read:servers", "delete:servers"]}]  # fmt: skip

# Limits: enforced by spawners of systemd and docker; the simple one only tells them to the student's JupyterLab.
c.Spawner.mem_limit, c.Spawner.cpu_limit = "3G", 1
c.Spawner.http_timeout = c.Spawner.start_timeout = 120  # seconds; when a class comes at once the last one waits
c.JupyterHub.concurrent_spawn_limit = 20
