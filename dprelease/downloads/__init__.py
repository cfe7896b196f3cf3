"""Everything that is downloaded of a stored release, made of what was released and of nothing else."""

from dprelease.downloads.archive import CERTIFICATE, MADE, NOTEBOOK, OPENDP, PROGRAM, REPORT, downloads_of, zipped

__all__ = ["CERTIFICATE", "MADE", "NOTEBOOK", "OPENDP", "PROGRAM", "REPORT", "downloads_of", "zipped"]
