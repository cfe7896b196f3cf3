"""Downloads of a stored release, which are made from the released files alone."""

from dprelease.downloads.archive import (
    CERTIFICATE,
    DERIVED_FILES,
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
from dprelease.downloads.uploads import faults_of_uploads
from dprelease.sizes import MAX_UNPACKED

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
    "faults_of_uploads",
    "unzip_files",
    "zip_files",
]
