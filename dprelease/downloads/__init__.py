"""Everything that is downloaded of a stored release, made of what was released and of nothing else."""

from dprelease.downloads.archive import (
    CERTIFICATE,
    DERIVED_FILES,
    NOTEBOOK,
    OPENDP,
    PROGRAM,
    REPORT,
    downloads_of,
    zip_files,
)

__all__ = ["CERTIFICATE", "DERIVED_FILES", "NOTEBOOK", "OPENDP", "PROGRAM", "REPORT", "downloads_of", "zip_files"]
