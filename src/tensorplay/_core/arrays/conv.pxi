# Convolution: matrices of sliding windows, and convolution of single channels.

cdef class Windows:
    """How windows slide over images of up to three spatial dims, for compiled loops.

    sizes, kernel, stride, dilation and outputs have an int per dim; padding a pair (before, after).
    `fits` is False where the loops do not apply: more dims, or negative padding.
    """

    cdef Geometry g
    cdef readonly bint fits

    def __init__(self, sizes, kernel, stride, padding, dilation, outputs):
        cdef int spatial = len(sizes), d, i
        self.fits = spatial <= 3
        for d in range(3):
            self.g.size[d] = self.g.kernel[d] = self.g.stride[d] = self.g.dilation[d] = 1
            self.g.out[d] = 1
            self.g.low[d] = 0
        if not self.fits:
            return
        for i in range(spatial):
            d = 3 - spatial + i
            self.g.size[d] = sizes[i]
            self.g.kernel[d] = kernel[i]
            self.g.stride[d] = stride[i]
            self.g.dilation[d] = dilation[i]
            self.g.out[d] = outputs[i]
            self.g.low[d] = padding[i][0]
            if padding[i][0] < 0 or padding[i][1] < 0 or outputs[i] <= 0:
                self.fits = False

    def takes(self, *arrays):
        """Whether the loops take these arrays."""
        for x in arrays:
            if not is_loop_array(<cnp.ndarray?>x) or cnp.PyArray_SIZE(<cnp.ndarray>x) == 0 \
                    or cnp.PyArray_TYPE(<cnp.ndarray>x) != cnp.PyArray_TYPE(<cnp.ndarray>arrays[0]):
                return False
        return self.fits

    def matrix(self, cnp.ndarray x, cnp.ndarray out, int64_t images):
        """Write all windows of single-channel images x into out (images, *kernel, *out)."""
        source = cnp.PyArray_DATA(x)
        target = cnp.PyArray_DATA(out)
        if cnp.PyArray_TYPE(x) == cnp.NPY_FLOAT:
            with nogil:
                kernels().windows_f32(<const float*>source, <float*>target, images, self.g)
        else:
            with nogil:
                kernels().windows_f64(<const double*>source, <double*>target, images, self.g)

    def add(self, cnp.ndarray matrix, cnp.ndarray x, int64_t images):
        """The transpose of `matrix`: add the windows up to images, which x is overwritten with."""
        source = cnp.PyArray_DATA(matrix)
        target = cnp.PyArray_DATA(x)
        if cnp.PyArray_TYPE(x) == cnp.NPY_FLOAT:
            with nogil:
                kernels().add_windows_f32(<const float*>source, <float*>target, images, self.g)
        else:
            with nogil:
                kernels().add_windows_f64(<const double*>source, <double*>target, images, self.g)

    def single(self, cnp.ndarray x, cnp.ndarray w, cnp.ndarray y, int64_t filters, int which):
        """Convolution of each channel by itself, with its `filters` kernels, contiguous arrays.

        x (N, C, *sizes), w (C, filters, *kernel), y (N, C, filters, *outputs); `which` of them (0:
        y, 1: x, 2: w) is overwritten with what the others make.
        """
        cdef int64_t samples = cnp.PyArray_DIMS(x)[0], channels = cnp.PyArray_DIMS(x)[1]
        a = cnp.PyArray_DATA(x)
        b = cnp.PyArray_DATA(w)
        c = cnp.PyArray_DATA(y)
        if cnp.PyArray_TYPE(x) == cnp.NPY_FLOAT:
            with nogil:
                kernels().single_f32(<float*>a, <float*>b, <float*>c, samples, channels, filters,
                                     self.g, which)
        else:
            with nogil:
                kernels().single_f64(<double*>a, <double*>b, <double*>c, samples, channels,
                                     filters, self.g, which)
