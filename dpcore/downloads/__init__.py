"""Everything that is downloaded of a stored release, made of what was released and of nothing else."""

from dpcore.downloads.archive import CERTIFICATE, NOTEBOOK, OPENDP, PROGRAM, REPORT, downloads_of, zipped

__all__ = ["CERTIFICATE", "NOTEBOOK", "OPENDP", "PROGRAM", "REPORT", "downloads_of", "zipped"]
