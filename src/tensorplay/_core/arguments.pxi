# What many operators ask of their arguments: dims, sizes, dtypes. One compiled pass over the valid
# case, and the errors of the others.

cdef list _every = [tuple(range(n)) for n in range(65)]     # dims 0 .. n - 1
cdef list _single = [(n,) for n in range(65)]
cdef list _backwards = [tuple(reversed(range(n))) for n in range(65)]


cdef raise_not_tensor(object x, object name, str argument):
    raise TypeError(f"{name}(): argument '{argument}' must be Tensor, not {type(x).__name__}; make "
                    "one with tensorplay.tensor(...)")


def require_tensor(x, name, str argument="input"):
    """Check an argument.

    Raises:
        TypeError: unless x is a Tensor.
    """
    if not is_tensor(x):
        raise_not_tensor(x, name, argument)


def refuse_complex(name, Tensor input):
    """Check that elements can be ordered.

    Raises:
        NotImplementedError: (a RuntimeError) for a complex tensor.
    """
    cdef int num = typenum_of(input)
    if cnp.NPY_CFLOAT <= num <= cnp.NPY_CLONGDOUBLE:
        raise NotImplementedError(
            f"{name}(): complex numbers are not ordered, got dtype {dtype_of(input)}; use e.g. "
            ".abs()")


# --- dims -----------------------------------------------------------------------------------------

cdef long wrapped(dim, of, name, int added=0) except -1:
    cdef long limit, number
    cdef bint counted = not is_tensor(of)
    if counted and not isinstance(of, int):
        raise TypeError(f"{name}(): argument 'input' (position 1) must be Tensor, not "
                        f"{type(of).__name__}")
    if type(dim) is not int and (isinstance(dim, float) or not hasattr(dim, "__index__")):
        raise TypeError(f"{name}(): argument 'dim' must be int, not {type(dim).__name__}")
    limit = <long>of if counted else ndim_of(<Tensor>of)
    limit = max(limit + added, 1)
    number = dim
    if not -limit <= number < limit:
        which = "" if counted else f" for a tensor of shape {list(shape_of(<Tensor>of))}"
        raise IndexError(
            f"{name}(): dim {dim} is out of range{which}; expected it to be in "
            f"[{-limit}, {limit - 1}]")
    return number if number >= 0 else number + limit


def wrap_dim(dim, of, name, *, int added=0):
    """A dim of `of` (a tensor, or a number of dims) as a non-negative int.

    added: how many dims the result has more than the tensor.

    Raises:
        IndexError: if it is out of range (a 0-dim tensor accepts 0 and -1).
    """
    return wrapped(dim, of, name, added)


cdef tuple wrapped_dims(dims, of, name, bint empty_is_all):
    cdef int ndim
    cdef list found
    if is_tensor(of):
        ndim = ndim_of(<Tensor>of)
    elif isinstance(of, int):
        ndim = of
    else:
        raise_not_tensor(of, name, "input")
    if dims is None:
        return _every[ndim]
    if isinstance(dims, int):
        dim = wrapped(dims, of, name)
        return _single[dim] if ndim else ()
    if isinstance(dims, str) or not hasattr(dims, "__iter__"):
        raise TypeError(f"{name}(): argument 'dim' must be an int or a tuple of ints, got "
                        f"{type(dims).__name__}")
    found = [wrapped(d if type(d) is int else int(d), of, name) for d in dims]
    if len(found) > 1:
        found.sort()
        if len(set(found)) != len(found):
            raise RuntimeError(f"{name}(): a dim appears more than once in dim={tuple(dims)}")
    if not found and empty_is_all:
        return _every[ndim]
    return tuple(found) if ndim else ()


def wrap_dims(dims, of, name, *, bint empty_is_all=True):
    """Dims as a sorted tuple of non-negative ints; None (and an empty list) means all.

    Raises:
        IndexError: if one is out of range.
        RuntimeError: if one appears twice.
        TypeError: if they are not ints.
    """
    return wrapped_dims(dims, of, name, empty_is_all)


def reduced_dims(dim, input, name):
    """The dims that a reduction's argument `dim` means, as a sorted tuple; see `wrap_dims`.

    Raises:
        TypeError: unless `input` is a tensor.
    """
    if not is_tensor(input):
        raise_not_tensor(input, name, "input")
    return wrapped_dims(dim, input, name, True)


def order_of_dims(tuple dims, Tensor x, str name):
    """Every dim of x once, in the order given, as non-negative ints.

    Raises:
        RuntimeError: if one is missing or named twice.
    """
    cdef int ndim = ndim_of(x), i
    cdef uint64_t seen = 0
    cdef list order = []
    for item in dims:
        dim = wrapped(item, x, name)
        order.append(dim)
        if ndim:
            seen |= <uint64_t>1 << <int>dim
    if len(order) != ndim or (ndim and seen != (~<uint64_t>0) >> (64 - ndim)):
        raise RuntimeError(f"{name}(): dims {dims} must name each dim of a tensor of shape "
                           f"{list(shape_of(x))} once")
    return tuple(order)


def exchanged_dims(Tensor x, dim0, dim1, str name):
    """The dims of x with two exchanged."""
    cdef int ndim = ndim_of(x)
    cdef list order
    cdef long a = wrapped(dim0, x, name), b = wrapped(dim1, x, name)
    if ndim == 2:
        return (1, 0) if a != b else (0, 1)
    order = list(<tuple>_every[ndim])
    if ndim:
        order[a], order[b] = b, a
    return tuple(order)


def reversed_dims(Tensor x):
    """The dims of x, the last one first."""
    return _backwards[ndim_of(x)]


def dims_of_size_one(Tensor x, tuple dims):
    """Those of the dims along which x has one entry."""
    cdef cnp.ndarray array
    if x._array is None:
        shape = shape_of(x)
        return tuple([d for d in dims if shape[d] == 1])
    array = x._array
    for d in dims:
        if cnp.PyArray_DIMS(array)[<int>d] == 1:
            return tuple([d for d in dims if cnp.PyArray_DIMS(array)[<int>d] == 1])
    return ()


def joined_dims(Tensor x, int first, int last):
    """x's shape with the dims from first to last as one."""
    cdef tuple shape = shape_of(x)
    cdef int i
    size = 1
    for i in range(first, last + 1):
        size *= shape[i]
    return shape[:first] + (size,) + shape[last + 1:]


# --- sizes ----------------------------------------------------------------------------------------

def sizes_of(tuple args, str name):
    """Sizes given one by one or as one sequence, as a tuple of ints.

    Raises:
        TypeError: if they are not ints.
    """
    cdef bint plain = True
    if len(args) == 1 and not isinstance(args[0], int) and not is_tensor(args[0]):
        if not hasattr(args[0], "__iter__"):
            raise TypeError(f"{name}(): sizes must be ints, got {type(args[0]).__name__}")
        args = tuple(args[0])
    for item in args:
        if type(item) is not int:
            plain = False
            break
    if plain:
        return args
    for item in args:
        if not hasattr(item, "__index__") or isinstance(item, str):
            raise TypeError(
                f"{name}(): sizes must be ints, got {args} with a {type(item).__name__}")
    return tuple([item.__index__() for item in args])


def broadcast_shapes_of(name, *shapes):
    """The shape that `shapes` broadcast to.

    Raises:
        RuntimeError: if they do not.
    """
    cdef Py_ssize_t ndim = 0, i, lead, have
    cdef int64_t sizes[64]
    cdef int64_t size
    for shape in shapes:
        ndim = max(ndim, len(shape))
    if ndim > 64:
        raise RuntimeError(f"{name}(): a tensor has at most 64 dims, got {ndim}")
    for i in range(ndim):
        sizes[i] = 1
    for shape in shapes:
        have = len(shape)
        lead = ndim - have
        for i in range(have):
            size = shape[i]
            if size == sizes[lead + i] or size == 1:
                continue
            if sizes[lead + i] != 1 or size < 0:
                listed = " and ".join([str(list(s)) for s in shapes])
                raise RuntimeError(f"{name}(): shapes {listed} cannot be broadcast together")
            sizes[lead + i] = size
    return tuple([sizes[i] for i in range(ndim)])


def can_reshape(Tensor x, tuple shape):
    """Whether x is plain, its elements are in order, and `shape` (without -1) holds them all."""
    cdef cnp.npy_intp total = 1
    if x._array is None or not cnp.PyArray_IS_C_CONTIGUOUS(<cnp.ndarray>x._array):
        return False
    for size in shape:
        if <Py_ssize_t>size < 0:
            return False
        total *= <Py_ssize_t>size
    return total == cnp.PyArray_SIZE(<cnp.ndarray>x._array)


def broadcasts_to(Tensor x, tuple shape):
    """Whether x is plain and its shape broadcasts to `shape`, which has no -1."""
    cdef cnp.ndarray array
    cdef int lead, i
    cdef Py_ssize_t size
    if x._array is None:
        return False
    array = x._array
    lead = len(shape) - cnp.PyArray_NDIM(array)
    if lead < 0:
        return False
    for i in range(len(shape)):
        size = shape[i]
        if size < 0 or (i >= lead and cnp.PyArray_DIMS(array)[i - lead] != size
                        and cnp.PyArray_DIMS(array)[i - lead] != 1):
            return False
    return True


# --- products -------------------------------------------------------------------------------------

def fits_product(a, int a_dims, b, int b_dims):
    """Whether two tensors of one dtype have so many dims, and shapes whose product is defined."""
    cdef tuple left, right
    if not is_tensor(a) or not is_tensor(b) or ndim_of(<Tensor>a) != a_dims \
            or ndim_of(<Tensor>b) != b_dims or typenum_of(<Tensor>a) != typenum_of(<Tensor>b):
        return False
    left = shape_of(<Tensor>a)
    right = shape_of(<Tensor>b)
    if left[a_dims - 1] != right[b_dims - 2 if b_dims > 1 else 0]:
        return False
    return a_dims < 3 or b_dims < 3 or left[0] == right[0]


def are_vectors(a, b):
    """Whether both are tensors of one dim."""
    return is_tensor(a) and is_tensor(b) and ndim_of(<Tensor>a) == 1 and ndim_of(<Tensor>b) == 1


def of_one_shape(Tensor a, Tensor b):
    """Whether two tensors have the same shape."""
    return same_shape(a, b)


def trailing_dims(Tensor x, tuple shape, weight, bias):
    """The last dims of x where `shape` is their sizes, and that of weight and bias (or None), all
    real and of one dtype; else None.
    """
    cdef int ndim = ndim_of(x), lead = ndim - len(shape), num = typenum_of(x)
    if lead < 0 or not shape or num not in (cnp.NPY_FLOAT, cnp.NPY_DOUBLE) \
            or shape_of(x)[lead:] != shape:
        return None
    for other in (weight, bias):
        if other is not None and not (
                is_tensor(other) and typenum_of(<Tensor>other) == num
                and shape_of(<Tensor>other) == shape):
            return None
    return (<tuple>_every[ndim])[lead:]


# --- other arguments ------------------------------------------------------------------------------

def is_constant(Tensor x):
    """Whether operations on x alone are neither recorded nor transformed, nor watched."""
    if tp_modes:
        return False
    if x.flags & (SLOW | VIEW) and not fast_ready(x):
        return False
    return not (x.flags & REQUIRES_GRAD and tp_grad_mode)


def plain_pads(Tensor x, pad):
    """Per dim of x what `pad` says, which begins with the last dim; None unless all are plain."""
    cdef int ndim = ndim_of(x), i, count
    cdef tuple shape, amounts
    cdef list pads
    if type(pad) is not tuple and type(pad) is not list:
        return None
    amounts = tuple(pad)
    count = len(amounts)
    if count % 2 or count > 2 * ndim:
        return None
    for item in amounts:
        if type(item) is not int or item < 0:
            return None
    pads = [(0, 0)] * ndim
    for i in range(count // 2):
        pads[ndim - 1 - i] = (amounts[2 * i], amounts[2 * i + 1])
    return tuple(pads)


def like_number(value, Tensor x):
    """A float as a 0-dim tensor of the dtype of x, where that is float32 or float64; else None."""
    cdef cnp.npy_intp none = 0
    cdef cnp.ndarray array
    cdef int num = typenum_of(x)
    if type(value) is not float or (num != cnp.NPY_FLOAT and num != cnp.NPY_DOUBLE):
        return None
    array = cnp.PyArray_EMPTY(0, &none, num, 0)
    return fresh(array, False) if fill_array(array, value) else None


def is_mask(x):
    """Whether x is a bool tensor."""
    return is_tensor(x) and typenum_of(<Tensor>x) == cnp.NPY_BOOL


def contiguous(Tensor self, memory_format=None):
    """This tensor with its elements in order in memory: itself when they are, else a copy.

    memory_format: accepted as PyTorch does; the order is always that of the dims.
    """
    if self._array is not None and cnp.PyArray_IS_C_CONTIGUOUS(<cnp.ndarray>self._array):
        return self
    return self if is_contiguous(self) else registry["contiguous"](self)
