// Convolution over up to three spatial dims: images to matrices of their windows (im2col) and back,
// for matrix products to do the rest; and convolution of single channels, which needs none.
#pragma once
#include "norm.hpp"

namespace tensorplay::TENSORPLAY_ISA {

// The outputs o in begin .. end of dim d for which the input o * stride + k * dilation - low exists.
struct Reach { int64_t begin, end; };
static inline Reach reach(const Geometry& g, int d, int64_t k)
{
    int64_t first = k * g.dilation[d] - g.low[d], s = g.stride[d];
    int64_t begin = first >= 0 ? 0 : (-first + s - 1) / s;
    int64_t end = g.size[d] > first ? (g.size[d] - 1 - first) / s + 1 : 0;
    end = end < g.out[d] ? end : g.out[d];
    return {begin, end < begin ? begin : end};
}
static inline int64_t source(const Geometry& g, int d, int64_t o, int64_t k)
{
    return o * g.stride[d] + k * g.dilation[d] - g.low[d];
}
static inline int64_t volume(const int64_t* sizes) { return sizes[0] * sizes[1] * sizes[2]; }

// body(row of the matrix, line of the image or -1, columns in reach) for every line of every window
// element of one channel.
template <class Body> static inline void for_lines(const Geometry& g, Body body)
{
    int64_t row = 0;
    for (int64_t k0 = 0; k0 < g.kernel[0]; ++k0)
        for (int64_t k1 = 0; k1 < g.kernel[1]; ++k1)
            for (int64_t k2 = 0; k2 < g.kernel[2]; ++k2) {
                Reach columns = reach(g, 2, k2);
                int64_t first = source(g, 2, columns.begin, k2);
                for (int64_t o0 = 0; o0 < g.out[0]; ++o0)
                    for (int64_t o1 = 0; o1 < g.out[1]; ++o1, row += g.out[2]) {
                        int64_t i0 = source(g, 0, o0, k0), i1 = source(g, 1, o1, k1);
                        bool inside = i0 >= 0 && i0 < g.size[0] && i1 >= 0 && i1 < g.size[1];
                        int64_t line = (i0 * g.size[1] + i1) * g.size[2] + first;
                        body(row, inside ? line : -1, columns);
                    }
            }
}

// x[channels, *size] -> out[channels, *kernel, *out]
template <class T>
void windows_of(const T* x, T* out, int64_t channels, const Geometry& g)
{
    int64_t image = volume(g.size), matrix = volume(g.kernel) * volume(g.out), s = g.stride[2];
    split(channels, grain_cheap / (matrix + 1) + 1, [=, &g](int64_t begin, int64_t end) {
        for (int64_t c = begin; c < end; ++c)
            for_lines(g, [=, &g](int64_t row, int64_t line, Reach columns) {
                T* to = out + c * matrix + row;
                const T* from = x + c * image + line;
                int64_t count = columns.end - columns.begin;
                if (line < 0) {
                    __builtin_memset(to, 0, g.out[2] * sizeof(T));
                    return;
                }
                for (int64_t i = 0; i < columns.begin; ++i) to[i] = T(0);
                for (int64_t i = columns.end; i < g.out[2]; ++i) to[i] = T(0);
                to += columns.begin;
                if (s == 1) {
                    copy_line(to, from, count);
                } else {
                    for (int64_t i = 0; i < count; ++i) to[i] = from[i * s];
                }
            });
    });
}

// The transpose: matrices of windows added up to images; x is overwritten.
template <class T>
void add_windows(const T* windows, T* x, int64_t channels, const Geometry& g)
{
    int64_t image = volume(g.size), matrix = volume(g.kernel) * volume(g.out), s = g.stride[2];
    split(channels, grain_cheap / (matrix + 1) + 1, [=, &g](int64_t begin, int64_t end) {
        for (int64_t c = begin; c < end; ++c) {
            __builtin_memset(x + c * image, 0, image * sizeof(T));
            for_lines(g, [=, &g](int64_t row, int64_t line, Reach columns) {
                if (line < 0) return;
                const T* from = windows + c * matrix + row + columns.begin;
                T* to = x + c * image + line;
                int64_t count = columns.end - columns.begin;
                if (s == 1) {
#pragma omp simd
                    for (int64_t i = 0; i < count; ++i) to[i] += from[i];
                } else {
                    for (int64_t i = 0; i < count; ++i) to[i * s] += from[i];
                }
            });
        }
    });
}

// ---- single channels ----------------------------------------------------------------------------

// One channel of an image in memory where no window has an edge: padded, and each line divided into
// its elements 0, s, 2s ... , then 1, s + 1 ... (s: the stride), so that what one element of the
// kernel meets is contiguous. Lines are as long as whole registers of outputs need.
template <class T> struct Channel {
    const Geometry& g;
    int64_t wide, phase, line, depth[2];  // sizes: of an output line, a part of a line, a line
    Zeros<T> memory, outputs;
    Zeros<int64_t> offsets;               // of the elements of the kernel

    explicit Channel(const Geometry& geometry)
        : g(geometry), wide((g.out[2] + width<T> - 1) / width<T> * width<T>),
          phase(wide + (g.kernel[2] - 1) * g.dilation[2] / g.stride[2]),
          line(phase * g.stride[2]),
          depth{extent(0), extent(1)},
          memory(depth[0] * depth[1] * line), outputs(g.out[0] * g.out[1] * wide),
          offsets(volume(g.kernel))
    {
        int64_t* next = offsets.data;
        for (int64_t k0 = 0; k0 < g.kernel[0]; ++k0)
            for (int64_t k1 = 0; k1 < g.kernel[1]; ++k1)
                for (int64_t k2 = 0; k2 < g.kernel[2]; ++k2) {
                    int64_t at = k2 * g.dilation[2];
                    *next++ = (k0 * g.dilation[0] * depth[1] + k1 * g.dilation[1]) * line +
                              at % g.stride[2] * phase + at / g.stride[2];
                }
    }
    int64_t extent(int d) const
    {
        return (g.out[d] - 1) * g.stride[d] + (g.kernel[d] - 1) * g.dilation[d] + 1;
    }
    // Where the windows of an output line start.
    T* start(int64_t o0, int64_t o1) const
    {
        return memory.data + (o0 * g.stride[0] * depth[1] + o1 * g.stride[1]) * line;
    }
    // body(image line, padded line) for those lines of the image that some window meets.
    template <class Body> void for_lines(Body body) const
    {
        for (int64_t i0 = 0; i0 < g.size[0] && i0 + g.low[0] < depth[0]; ++i0)
            for (int64_t i1 = 0; i1 < g.size[1] && i1 + g.low[1] < depth[1]; ++i1)
                body((i0 * g.size[1] + i1) * g.size[2],
                     memory.data + ((i0 + g.low[0]) * depth[1] + i1 + g.low[1]) * line);
    }
    // How many elements of a line some window meets.
    int64_t used() const
    {
        int64_t last = phase * g.stride[2] - g.low[2];
        return last < g.size[2] ? last : g.size[2];
    }
    int64_t place(int64_t i) const
    {
        return (i + g.low[2]) % g.stride[2] * phase + (i + g.low[2]) / g.stride[2];
    }
    void load(const T* x) const
    {
        int64_t n = used(), low = g.low[2];
        if (g.stride[2] == 1)
            for_lines([=](int64_t at, T* padded) {
                copy_line(padded + low, x + at, n);
            });
        else
            for_lines([=, this](int64_t at, T* padded) {
                for (int64_t i = 0; i < n; ++i) padded[place(i)] = x[at + i];
            });
    }
    void store(T* x) const
    {
        int64_t n = used();
        __builtin_memset(x, 0, volume(g.size) * sizeof(T));
        for_lines([=, this](int64_t at, T* padded) {
            for (int64_t i = 0; i < n; ++i) x[at + i] = padded[place(i)];
        });
    }
    void clear() const
    {
        __builtin_memset(memory.data, 0, depth[0] * depth[1] * line * sizeof(T));
    }
    // The lines of y, each filled up with zeros to whole registers.
    void load_outputs(const T* y) const
    {
        for (int64_t i = 0; i < g.out[0] * g.out[1]; ++i)
            copy_line(outputs.data + i * wide, y + i * g.out[2], g.out[2]);
    }
    // body(start of the windows, number of the line) for every output line.
    template <class Body> void for_outputs(Body body) const
    {
        int64_t number = 0;
        for (int64_t o0 = 0; o0 < g.out[0]; ++o0)
            for (int64_t o1 = 0; o1 < g.out[1]; ++o1) body(start(o0, o1), number++);
    }
};

// `count` registers of an output line, kept in `sum`.
template <int count, class T>
TENSORPLAY_INLINE void output_registers(const T* from, const T* w, const int64_t* offsets,
                                        int64_t taps, Vector<T> (&sum)[count])
{
    for (int r = 0; r < count; ++r) sum[r] = Vector<T>{};
    for (int64_t k = 0; k < taps; ++k) {
        const T *x = from + offsets[k], factor = w[k];
#pragma GCC unroll 4
        for (int r = 0; r < count; ++r) sum[r] += Many<T>{r * width<T>}(x) * factor;
    }
}

template <class T> static inline void channel_output(const Channel<T>& c, const T* w, T* y)
{
    int64_t taps = volume(c.g.kernel), cols = c.g.out[2];
    const int64_t* offsets = c.offsets.data;
    constexpr int64_t step = width<T>;
    c.for_outputs([&](const T* from, int64_t number) {
        T* to = y + number * cols;
        Vector<T> one[1], two[2];
        int64_t o = 0;
        for (; o + 2 * step <= cols; o += 2 * step) {
            output_registers<2>(from + o, w, offsets, taps, two);
            Many<T>{o}.put(to, two[0]);
            Many<T>{o + step}.put(to, two[1]);
        }
        // The registers at the end overlap.
        if (o < cols && cols >= 2 * step) {
            output_registers<2>(from + cols - 2 * step, w, offsets, taps, two);
            Many<T>{cols - 2 * step}.put(to, two[0]);
            Many<T>{cols - step}.put(to, two[1]);
        } else if (o < cols && cols >= step) {
            output_registers<1>(from, w, offsets, taps, one);
            Many<T>{0}.put(to, one[0]);
            output_registers<1>(from + cols - step, w, offsets, taps, one);
            Many<T>{cols - step}.put(to, one[0]);
        } else if (o < cols) {
            output_registers<1>(from, w, offsets, taps, one);
            for (int64_t i = 0; i < cols; ++i) to[i] = one[0][i];
        }
    });
}

template <class T> static inline void add_channel_input(const Channel<T>& c, const T* w)
{
    int64_t taps = volume(c.g.kernel);
    c.for_outputs([&](T* start, int64_t number) {
        const T* from = c.outputs.data + number * c.wide;
        for (int64_t k = 0; k < taps; ++k) {
            T *to = start + c.offsets.data[k], factor = w[k];
            for (int64_t o = 0; o < c.wide; o += width<T>)
                Many<T>{o}.put(to, Many<T>{o}(to) + Many<T>{o}(from) * factor);
        }
    });
}

// `count` entries of the weight from the tap `k` on.
template <int count, class T>
static inline void add_taps(const Channel<T>& c, T* w, int64_t k)
{
    Vector<T> sum[count] = {};
    const int64_t* offsets = c.offsets.data + k;
    c.for_outputs([&](const T* start, int64_t number) {
        const T* y = c.outputs.data + number * c.wide;
        for (int64_t o = 0; o < c.wide; o += width<T>) {
            Vector<T> cotangent = Many<T>{o}(y);
#pragma GCC unroll 4
            for (int t = 0; t < count; ++t) sum[t] += Many<T>{o}(start + offsets[t]) * cotangent;
        }
    });
    for (int t = 0; t < count; ++t) w[k + t] += across<width<T>>(Sum(), sum[t]);
}

template <class T> static inline void add_channel_weight(const Channel<T>& c, T* w)
{
    int64_t taps = volume(c.g.kernel), k = 0;
    for (; k + 3 <= taps; k += 3) add_taps<3>(c, w, k);
    for (; k < taps; ++k) add_taps<1>(c, w, k);
}

// With strides of 1, what is multiplied with the input is a convolution of the output: of the
// kernel backwards, over the padding that this takes.
static inline bool reversed(const Geometry& g, Geometry& r)
{
    r = g;
    for (int d = 0; d < 3; ++d) {
        r.size[d] = g.out[d];
        r.out[d] = g.size[d];
        r.low[d] = (g.kernel[d] - 1) * g.dilation[d] - g.low[d];
        if (g.stride[d] != 1 || r.low[d] < 0) return false;
    }
    return true;
}

// The three forms of convolution of x[samples, channels, *size] with w[channels, filters, *kernel]
// to y[samples, channels, filters, *out], each channel by itself.
template <class T>
static void single_output(const T* x, const T* w, T* y, int64_t images, int64_t channels,
                          int64_t filters, const Geometry& g)
{
    int64_t image = volume(g.size), taps = volume(g.kernel), outs = volume(g.out);
    int64_t work = filters * outs * taps;
    split(images, grain_cheap / (work + 1) + 1, [=, &g](int64_t begin, int64_t end) {
        Channel<T> line(g);
        for (int64_t i = begin; i < end; ++i) {
            line.load(x + i * image);
            for (int64_t f = 0; f < filters; ++f)
                channel_output(line, w + (i % channels * filters + f) * taps,
                               y + (i * filters + f) * outs);
        }
    });
}

template <class T>
static void single_input(const T* y, const T* w, T* x, int64_t images, int64_t channels,
                         int64_t filters, const Geometry& g)
{
    int64_t image = volume(g.size), taps = volume(g.kernel), outs = volume(g.out);
    int64_t work = filters * outs * taps;
    Geometry back;
    if (filters == 1 && reversed(g, back)) {
        Zeros<T> flipped(channels * taps);
        for (int64_t i = 0; i < channels * taps; ++i)
            flipped.data[i] = w[i / taps * taps + taps - 1 - i % taps];
        return single_output(y, flipped.data, x, images, channels, 1, back);
    }
    split(images, grain_cheap / (work + 1) + 1, [=, &g](int64_t begin, int64_t end) {
        Channel<T> line(g);
        for (int64_t i = begin; i < end; ++i) {
            line.clear();
            for (int64_t f = 0; f < filters; ++f) {
                line.load_outputs(y + (i * filters + f) * outs);
                add_channel_input(line, w + (i % channels * filters + f) * taps);
            }
            line.store(x + i * image);
        }
    });
}

template <class T>
static void single_weight(const T* x, const T* y, T* w, int64_t samples, int64_t channels,
                          int64_t filters, const Geometry& g)
{
    int64_t image = volume(g.size), taps = volume(g.kernel), outs = volume(g.out);
    int64_t work = samples * filters * outs * taps;
    __builtin_memset(w, 0, channels * filters * taps * sizeof(T));
    split(channels, grain_cheap / (work + 1) + 1, [=, &g](int64_t begin, int64_t end) {
        Channel<T> line(g);
        for (int64_t c = begin; c < end; ++c)
            for (int64_t s = 0; s < samples; ++s) {
                int64_t i = s * channels + c;
                line.load(x + i * image);
                for (int64_t f = 0; f < filters; ++f) {
                    line.load_outputs(y + (i * filters + f) * outs);
                    add_channel_weight(line, w + (c * filters + f) * taps);
                }
            }
    });
}

// `which` of x, w and y is made from the others: 0 makes y, 1 x, 2 w.
template <class T>
void single_channels(T* x, T* w, T* y, int64_t samples, int64_t channels, int64_t filters,
                     const Geometry& g, int which)
{
    if (which == 0) single_output(x, w, y, samples * channels, channels, filters, g);
    else if (which == 1) single_input(y, w, x, samples * channels, channels, filters, g);
    else single_weight(x, y, w, samples, channels, filters, g);
}

}  // namespace tensorplay::TENSORPLAY_ISA
