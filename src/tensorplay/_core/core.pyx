"""The compiled core: tensors, graph nodes, primitives, the backward engine.

Only objects that every operation touches live here. There is no derivative rule in this module: a
`Primitive` holds the Python functions that state its rules, and the engine calls them. The module
is one extension made of the parts included below; `README.md` beside this file says how they fit.
"""

cimport cython
from cpython.object cimport PyObject, PyTypeObject
from cpython.ref cimport Py_DECREF, Py_INCREF, Py_XDECREF, Py_XINCREF
from cpython.tuple cimport PyTuple_GET_ITEM, PyTuple_GET_SIZE, PyTuple_New, PyTuple_SET_ITEM
from libc.math cimport copysign
from libc.stdint cimport int64_t, uint64_t
from libc.string cimport memset
from libcpp.queue cimport priority_queue
from libcpp.unordered_map cimport unordered_map
from libcpp.utility cimport pair
from libcpp.vector cimport vector
cimport numpy as cnp

import sys
import threading
import warnings
from weakref import ref as _weakref

import numpy as np

from tensorplay.base import devices as _devices
from tensorplay.base import dtypes as _dtypes

cnp.import_array()

include "state.pxi"
include "tensor.pxi"
include "access.pxi"
include "arguments.pxi"
include "arrays/views.pxi"
include "arrays/copies.pxi"
include "graph.pxi"
include "rules.pxi"
include "primitive.pxi"
include "arrays/memory.pxi"
include "arrays/rearrange.pxi"
include "arrays/filling.pxi"
include "fast.pxi"
include "dispatch.pxi"
include "record.pxi"
include "packed.pxi"
include "tangents.pxi"
include "inplace.pxi"
include "engine.pxi"
include "custom.pxi"
include "arrays/small.pxi"
include "arrays/elements.pxi"
include "arrays/classes.pxi"
include "arrays/draws.pxi"
include "arrays/compute.pxi"
include "arrays/products.pxi"
include "arrays/windows.pxi"
include "arrays/fourier.pxi"
include "arrays/maps.pxi"
include "arrays/conv.pxi"
include "arrays/indices.pxi"
