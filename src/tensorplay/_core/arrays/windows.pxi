# Kernels of small arrays that slide windows: max pooling and convolution.

cdef class MaxWindowsKernel(SmallKernel):
    """`kernel(x, kernel, stride, padding, dilation)`: (largest elements of windows, places)."""

    cdef int64_t limit(self):
        return 1 << 14

    cdef object small(self, cnp.ndarray x, PyObject** args, Py_ssize_t n):
        cdef cnp.npy_intp sizes[64]
        cdef Window windows[2]
        cdef tuple kernel = <tuple?><object>args[1]
        cdef int spatial = len(kernel), lead = cnp.PyArray_NDIM(x) - spatial, i
        cdef int64_t planes = 1
        cdef cnp.ndarray values, places
        cdef bint fine
        if not is_loop_array(x) or spatial > 2:
            return None
        for i in range(lead):
            sizes[i] = cnp.PyArray_DIMS(x)[i]
            planes *= sizes[i]
        windows[0] = Window(1, 1, 1, 1, 0, 1)
        for i in range(spatial):
            before, after = (<tuple?><object>args[3])[i]
            windows[i + 2 - spatial] = plan_window(
                cnp.PyArray_DIMS(x)[lead + i], kernel[i], (<tuple?><object>args[2])[i], before,
                after, (<tuple?><object>args[4])[i])
            sizes[lead + i] = windows[i + 2 - spatial].out
        values = empty_array(lead + spatial, sizes, cnp.PyArray_TYPE(x))
        places = empty_array(lead + spatial, sizes, cnp.NPY_INT64)
        if cnp.PyArray_TYPE(x) == cnp.NPY_FLOAT:
            fine = max_windows[float](
                <const float*>cnp.PyArray_DATA(x), <float*>cnp.PyArray_DATA(values),
                <int64_t*>cnp.PyArray_DATA(places), planes, windows[0], windows[1])
        else:
            fine = max_windows[double](
                <const double*>cnp.PyArray_DATA(x), <double*>cnp.PyArray_DATA(values),
                <int64_t*>cnp.PyArray_DATA(places), planes, windows[0], windows[1])
        return (values, places) if fine else None


cdef inline Window plan_window(int64_t size, int64_t kernel, int64_t stride, int64_t before,
                               int64_t after, int64_t dilation) noexcept:
    cdef Window w
    w.size = size
    w.out = (size + before + after - dilation * (kernel - 1) - 1) // stride + 1
    w.kernel = kernel
    w.stride = stride
    w.padding = before
    w.dilation = dilation
    return w


cdef enum:
    SMALL_WINDOWS = 1 << 14      # elements of a matrix of windows that is made at once


cdef class ConvolutionKernel(SmallKernel):
    """`kernel(x, w, stride, padding, dilation, groups)`: convolution over one or two dims."""

    cdef int64_t limit(self):
        return 1 << 14

    cdef object small(self, cnp.ndarray x, PyObject** args, Py_ssize_t n):
        cdef cnp.ndarray w = <cnp.ndarray?><object>args[1], out, matrix
        cdef cnp.npy_intp sizes[4]
        cdef Window windows[2]
        cdef Product p
        cdef int spatial = cnp.PyArray_NDIM(x) - 2, num = cnp.PyArray_TYPE(x), i
        cdef int64_t groups = <object>args[5], channels, filters, samples, places, rows, item, k
        cdef char* source
        cdef char* target
        cdef char* weights
        if not 1 <= spatial <= 2 or not is_loop_array(x) or not is_loop_array(w) \
                or cnp.PyArray_TYPE(w) != num or cnp.PyArray_SIZE(x) == 0 \
                or cnp.PyArray_SIZE(w) == 0:
            return None
        windows[0] = Window(1, 1, 1, 1, 0, 1)
        for i in range(spatial):
            before, after = (<tuple?><object>args[3])[i]
            windows[i + 2 - spatial] = plan_window(
                cnp.PyArray_DIMS(x)[2 + i], cnp.PyArray_DIMS(w)[2 + i],
                (<tuple?><object>args[2])[i], before, after, (<tuple?><object>args[4])[i])
            sizes[2 + i] = windows[i + 2 - spatial].out
        samples = sizes[0] = cnp.PyArray_DIMS(x)[0]
        sizes[1] = cnp.PyArray_DIMS(w)[0]
        channels = cnp.PyArray_DIMS(x)[1] // groups
        filters = sizes[1] // groups
        places = windows[0].out * windows[1].out
        rows = channels * windows[0].kernel * windows[1].kernel
        if places <= 0 or rows * places > SMALL_WINDOWS \
                or samples * groups * rows * places * filters > 1 << 18:
            return None
        item = cnp.PyArray_ITEMSIZE(x)
        out = empty_array(2 + spatial, sizes, num)
        sizes[0] = rows
        sizes[1] = places
        matrix = empty_array(2, sizes, num)
        p.num = num
        p.a_row = p.k = rows
        p.a_col = p.b_col = 1
        p.b_row = p.n = places
        p.m = filters
        source = <char*>cnp.PyArray_DATA(x)
        target = <char*>cnp.PyArray_DATA(out)
        for k in range(samples * groups):
            weights = <char*>cnp.PyArray_DATA(w) + k % groups * filters * rows * item
            if num == cnp.NPY_FLOAT:
                copy_windows[float](<const float*>source, <float*>cnp.PyArray_DATA(matrix),
                                    channels, windows[0], windows[1])
            else:
                copy_windows[double](<const double*>source, <double*>cnp.PyArray_DATA(matrix),
                                     channels, windows[0], windows[1])
            run_product(&p, weights, cnp.PyArray_DATA(matrix), target)
            source += channels * windows[0].size * windows[1].size * item
            target += filters * places * item
        return out
