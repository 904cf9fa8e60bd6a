//! `read_image*` as the specification's formulas have it (section 8.2 "Image Addressing and Filtering"), in double
//! precision.

use opencl3::memory::{
    CL_ADDRESS_CLAMP, CL_ADDRESS_MIRRORED_REPEAT, CL_ADDRESS_REPEAT, CL_MEM_OBJECT_IMAGE1D,
    CL_MEM_OBJECT_IMAGE1D_ARRAY, CL_MEM_OBJECT_IMAGE2D, CL_MEM_OBJECT_IMAGE2D_ARRAY,
    CL_MEM_OBJECT_IMAGE3D,
};

/// A kind of image that samplers read.
#[derive(Clone, Copy, Debug)]
pub struct Kind {
    pub image_type: u32,
    /// In OpenCL C.
    pub name: &'static str,
    /// Dimensions that are addressed; what follows them counts layers.
    pub axes: usize,
    pub is_array: bool,
}

pub const KINDS: [Kind; 5] = [
    kind(CL_MEM_OBJECT_IMAGE1D, "image1d_t", 1, false),
    kind(CL_MEM_OBJECT_IMAGE1D_ARRAY, "image1d_array_t", 1, true),
    kind(CL_MEM_OBJECT_IMAGE2D, "image2d_t", 2, false),
    kind(CL_MEM_OBJECT_IMAGE2D_ARRAY, "image2d_array_t", 2, true),
    kind(CL_MEM_OBJECT_IMAGE3D, "image3d_t", 3, false),
];

const fn kind(image_type: u32, name: &'static str, axes: usize, is_array: bool) -> Kind {
    Kind {
        image_type,
        name,
        axes,
        is_array,
    }
}

impl Kind {
    /// Components of a coordinate that mean something.
    pub fn coordinates(self) -> usize {
        self.axes + usize::from(self.is_array)
    }

    /// The swizzle that makes its coordinate of a vector of four.
    pub fn swizzle(self) -> &'static str {
        match self.coordinates() {
            1 => ".x",
            2 => ".xy",
            _ => "",
        }
    }

    /// Sizes along its coordinates, of those of a volume, layers last.
    pub fn sizes(self, [width, height, depth]: [usize; 3]) -> Vec<usize> {
        let axes = [width, height, depth].into_iter().take(self.axes);
        axes.chain(self.is_array.then_some(depth)).collect()
    }

    /// For `describe`: what it has no size along is 1.
    pub fn region(self, [width, height, depth]: [usize; 3]) -> [usize; 3] {
        let height = if self.axes > 1 { height } else { 1 };
        let depth = if self.axes > 2 || self.is_array {
            depth
        } else {
            1
        };
        [width, height, depth]
    }
}

#[derive(Clone, Copy, Debug)]
pub struct Sampler {
    pub normalized: bool,
    pub addressing: u32,
    pub linear: bool,
}

/// What an image holds, and what is around it.
pub struct Contents<'a> {
    pub kind: Kind,
    /// Along its coordinates.
    pub sizes: &'a [usize],
    pub texels: &'a [[f64; 4]],
    pub border: [f64; 4],
}

/// What an addressing mode makes of a texel's index; `None` is the border.
fn wrapped(index: i64, size: i64, addressing: u32) -> Option<usize> {
    let inside = match addressing {
        CL_ADDRESS_CLAMP if !(0..size).contains(&index) => return None,
        CL_ADDRESS_REPEAT => index.rem_euclid(size),
        CL_ADDRESS_MIRRORED_REPEAT => {
            let period = index.rem_euclid(2 * size);
            period.min(2 * size - 1 - period)
        }
        _ => index.clamp(0, size - 1),
    };
    Some(inside as usize)
}

impl Contents<'_> {
    fn texel(&self, at: &[i64], layer: usize, addressing: u32) -> [f64; 4] {
        let mut place = 0;
        let mut stride = 1;
        for (&index, &size) in at.iter().zip(self.sizes) {
            match wrapped(index, size as i64, addressing) {
                Some(index) => place += index * stride,
                None => return self.border,
            }
            stride *= size;
        }
        self.texels[layer * stride + place]
    }

    /// The coordinates along the axes in texels, and the layer.
    fn place(&self, sampler: Sampler, at: &[f32]) -> (Vec<f64>, usize) {
        let scale = |(&c, &size): (&f32, &usize)| {
            if sampler.normalized {
                f64::from(c) * size as f64
            } else {
                f64::from(c)
            }
        };
        let axes = self.kind.axes;
        let place = at.iter().zip(self.sizes).take(axes).map(scale).collect();
        let layer = if self.kind.is_array {
            let last = self.sizes[axes] as f64 - 1.0;
            f64::from(at[axes]).round_ties_even().clamp(0.0, last) as usize
        } else {
            0
        };
        (place, layer)
    }

    /// `read_imagef` with float coordinates.
    pub fn read(&self, sampler: Sampler, at: &[f32]) -> [f64; 4] {
        let (place, layer) = self.place(sampler, at);
        if !sampler.linear {
            let index: Vec<i64> = place.iter().map(|u| u.floor() as i64).collect();
            return self.texel(&index, layer, sampler.addressing);
        }
        let mut sum = [0.0; 4];
        for corner in 0..1 << place.len() {
            let mut weight = 1.0;
            let index: Vec<i64> = place
                .iter()
                .enumerate()
                .map(|(axis, u)| {
                    let first = (u - 0.5).floor();
                    let fraction = u - 0.5 - first;
                    let second = corner >> axis & 1;
                    weight *= if second == 1 {
                        fraction
                    } else {
                        1.0 - fraction
                    };
                    first as i64 + second
                })
                .collect();
            let texel = self.texel(&index, layer, sampler.addressing);
            for (sum, value) in sum.iter_mut().zip(texel) {
                *sum += weight * value;
            }
        }
        sum
    }

    /// `read_imagef` with integer coordinates.
    pub fn fetch(&self, addressing: u32, at: &[i32]) -> [f64; 4] {
        let axes = self.kind.axes;
        let index: Vec<i64> = at[..axes].iter().map(|&i| i.into()).collect();
        let layer = if self.kind.is_array {
            at[axes].clamp(0, self.sizes[axes] as i32 - 1) as usize
        } else {
            0
        };
        self.texel(&index, layer, addressing)
    }

    /// Whether rounding could put the coordinate on either side of a texel's end, or between two layers.
    pub fn is_between(&self, sampler: Sampler, at: &[f32]) -> bool {
        const MARGIN: f64 = 0.01;
        let (place, _) = self.place(sampler, at);
        let layer = self
            .kind
            .is_array
            .then(|| f64::from(at[self.kind.axes]) - 0.5);
        let mut all = place.into_iter().chain(layer);
        all.any(|u| (u - u.round()).abs() < MARGIN)
    }
}
