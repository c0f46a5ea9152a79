"""Leaves what tells of the machine that made them, where its sources lay, out of files of torch.jit: python without_paths.py FILE.pt|FILE.ptl ... (PyTorch)"""
import os
import sys
import tempfile

import torch

# which the writer makes itself
OWN = (".format_version", ".storage_alignment", "byteorder", "version", ".data/version", ".data/serialization_id")

for path in sys.argv[1:]:
    reader = torch._C.PyTorchFileReader(path)
    records = {name: reader.get_record(name) for name in reader.get_all_records() if name not in OWN and not name.endswith(".debug_pkl")}
    with tempfile.TemporaryDirectory(dir=os.path.dirname(path) or ".") as folder:
        # of the same name, which is in the file, too
        made = os.path.join(folder, os.path.basename(path))
        writer = torch._C.PyTorchFileWriter(made)
        writer.set_min_version(int(reader.get_record("version")))
        for name, data in records.items():
            writer.write_record(name, data, len(data))
        writer.write_end_of_file()
        os.replace(made, path)
