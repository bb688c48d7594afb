"""ONNX networks on the CPU: explicit threads, and no thread that spins while it waits."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import onnxruntime

from voicetui.ports import StageError


def load_network(path: Path, inputs: set[str], what: str, remedy: str, stage: str, threads: int = 1) -> Any:
    """An ``onnxruntime.InferenceSession`` of the file ``path``, whose inputs must be called ``inputs``.

    Raises ``StageError`` of that ``stage``, with ``remedy``, naming ``what`` cannot be loaded.
    """
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 4
    options.enable_cpu_mem_arena = False
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    options.add_session_config_entry("session.inter_op.allow_spinning", "0")
    try:
        loaded = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    except Exception as error:  # ONNX Runtime raises its own, undocumented kinds
        raise StageError(f"{what} {path} cannot be loaded: {error}", remedy, stage) from error
    if {each.name for each in loaded.get_inputs()} != inputs:
        raise StageError(f"{what} {path} cannot be loaded: it is another network.", remedy, stage)
    return loaded
