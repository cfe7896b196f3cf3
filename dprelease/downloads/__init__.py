"""Downloads of a stored release, which are made from the released files alone."""

from dprelease.downloads.archive import (
    CERTIFICATE,
    DERIVED_FILES,
    MAX_UNPACKED,
    NOTEBOOK,
    OPENDP,
    PROGRAM,
    REPORT,
    TOO_LARGE,
    downloads_of,
    faults_of_files,
    unzip_files,
    zip_files,
)

__all__ = [
    "CERTIFICATE",
    "DERIVED_FILES",
    "MAX_UNPACKED",
    "NOTEBOOK",
    "OPENDP",
    "PROGRAM",
    "REPORT",
    "TOO_LARGE",
    "downloads_of",
    "faults_of_files",
    "unzip_files",
    "zip_files",
]
