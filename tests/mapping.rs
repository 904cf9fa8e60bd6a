//! Which regions may be mapped at the same time, and what stays mapped when a call fails.

mod common;

use opencl3::command_queue::CommandQueue;
use opencl3::context::Context;
use opencl3::error_codes::{CL_INVALID_OPERATION, cl_int};
use opencl3::event::{create_user_event, release_event, set_user_event_status};
use opencl3::memory::{
    Buffer, CL_MAP_READ, CL_MAP_WRITE, CL_MAP_WRITE_INVALIDATE_REGION, CL_MEM_OBJECT_IMAGE2D,
    CL_MEM_READ_WRITE, CL_R, CL_UNSIGNED_INT8, ClMem, Image,
};
use opencl3::types::{
    CL_BLOCKING, CL_NON_BLOCKING, cl_event, cl_image_desc, cl_image_format, cl_map_flags,
};
use std::ffi::c_void;
use std::ptr;

const BYTES: usize = 4096;

fn setup() -> Option<(Context, CommandQueue, Buffer<u8>)> {
    let device = common::device()?;
    let context = Context::from_device(&device).unwrap();
    let queue = CommandQueue::create_default_with_properties(&context, 0, 0).unwrap();
    // SAFETY: no host memory.
    let buffer = unsafe { Buffer::create(&context, CL_MEM_READ_WRITE, BYTES, ptr::null_mut()) };
    Some((context, queue, buffer.unwrap()))
}

fn map(
    queue: &CommandQueue,
    buffer: &mut Buffer<u8>,
    flags: cl_map_flags,
    (offset, size): (usize, usize),
) -> Result<*mut c_void, cl_int> {
    let mut pointer = ptr::null_mut();
    // SAFETY: within the buffer.
    unsafe {
        queue.enqueue_map_buffer(buffer, CL_BLOCKING, flags, offset, size, &mut pointer, &[])
    }
    .map_err(|error| error.0)?;
    Ok(pointer)
}

fn unmap(queue: &CommandQueue, memory: &impl ClMem, pointer: *mut c_void) {
    // SAFETY: mapped, and not used any more.
    unsafe { queue.enqueue_unmap_mem_object(memory.get(), pointer, &[]) }.unwrap();
}

/// "CL_INVALID_OPERATION if mapping would lead to overlapping regions being mapped for writing."
#[test]
fn no_byte_is_mapped_for_writing_twice() {
    let Some((_context, queue, mut buffer)) = setup() else {
        return;
    };
    let first = map(&queue, &mut buffer, CL_MAP_WRITE, (256, 256)).unwrap();
    for flags in [
        CL_MAP_WRITE,
        CL_MAP_READ | CL_MAP_WRITE,
        CL_MAP_WRITE_INVALIDATE_REGION,
    ] {
        for region in [(0, 257), (511, 1), (256, 256), (0, BYTES)] {
            assert_eq!(
                map(&queue, &mut buffer, flags, region),
                Err(CL_INVALID_OPERATION)
            );
        }
    }
    // SAFETY: within the buffer, aligned to what any device asks for.
    let mut part = unsafe { buffer.create_sub_buffer(CL_MEM_READ_WRITE, 0, 1024) }.unwrap();
    assert_eq!(
        map(&queue, &mut part, CL_MAP_WRITE, (300, 4)),
        Err(CL_INVALID_OPERATION)
    );
    assert_eq!(buffer.map_count().unwrap(), 1);
    let beside = map(&queue, &mut buffer, CL_MAP_WRITE, (512, 256)).unwrap();
    let within = map(&queue, &mut part, CL_MAP_WRITE, (0, 256)).unwrap();
    let read = map(&queue, &mut buffer, CL_MAP_READ, (0, BYTES)).unwrap();
    unmap(&queue, &buffer, first);
    let again = map(&queue, &mut part, CL_MAP_WRITE, (256, 256)).unwrap();
    for pointer in [beside, read] {
        unmap(&queue, &buffer, pointer);
    }
    for pointer in [within, again] {
        unmap(&queue, &part, pointer);
    }
    queue.finish().unwrap();
    let all = map(&queue, &mut buffer, CL_MAP_WRITE, (0, BYTES)).unwrap();
    unmap(&queue, &buffer, all);
    queue.finish().unwrap();
}

#[test]
fn rectangles_of_an_image_are_mapped_side_by_side() {
    let Some((context, queue, _)) = setup() else {
        return;
    };
    let format = cl_image_format {
        image_channel_order: CL_R,
        image_channel_data_type: CL_UNSIGNED_INT8,
    };
    let description = cl_image_desc {
        image_type: CL_MEM_OBJECT_IMAGE2D,
        image_width: 64,
        image_height: 64,
        // SAFETY: zeros are the values of all the rest.
        ..unsafe { std::mem::zeroed() }
    };
    // SAFETY: no host memory.
    let image = unsafe {
        Image::create(
            &context,
            CL_MEM_READ_WRITE,
            &format,
            &description,
            ptr::null_mut(),
        )
    }
    .unwrap();
    let map = |column: usize, row: usize| {
        let (origin, region) = ([column, row, 0], [16_usize, 16, 1]);
        let (mut pointer, mut pitch, mut slice) = (ptr::null_mut(), 0, 0);
        // SAFETY: within the image.
        unsafe {
            queue.enqueue_map_image(
                &image,
                CL_BLOCKING,
                CL_MAP_WRITE,
                origin.as_ptr(),
                region.as_ptr(),
                &mut pitch,
                &mut slice,
                &mut pointer,
                &[],
            )
        }
        .map(|_| pointer)
        .map_err(|error| error.0)
    };
    let places = [(0, 0), (16, 0), (48, 8), (32, 24)];
    let mapped = places.map(|(column, row)| map(column, row).unwrap());
    for (column, row) in [(0, 15), (15, 0), (33, 20), (24, 24)] {
        assert_eq!(
            map(column, row),
            Err(CL_INVALID_OPERATION),
            "{column} {row}"
        );
    }
    for pointer in mapped {
        unmap(&queue, &image, pointer);
    }
    queue.finish().unwrap();
}

#[test]
fn a_map_that_fails_maps_nothing() {
    let Some((context, queue, mut buffer)) = setup() else {
        return;
    };
    let gate: cl_event = create_user_event(context.get()).unwrap();
    let mut pointer = ptr::null_mut();
    set_user_event_status(gate, -5).unwrap();
    // SAFETY: within the buffer; the event is ours.
    unsafe {
        let map = |buffer: &mut Buffer<u8>, blocking, pointer: &mut *mut c_void| {
            queue.enqueue_map_buffer(buffer, blocking, CL_MAP_WRITE, 0, BYTES, pointer, &[gate])
        };
        assert!(map(&mut buffer, CL_BLOCKING, &mut pointer).is_err());
        assert_eq!(buffer.map_count().unwrap(), 0);
        // This one returns before it fails: what it returned can be unmapped.
        assert!(map(&mut buffer, CL_NON_BLOCKING, &mut pointer).is_ok());
        assert_eq!(buffer.map_count().unwrap(), 1);
        unmap(&queue, &buffer, pointer);
        release_event(gate).unwrap();
    }
    assert_eq!(buffer.map_count().unwrap(), 0);
    queue.finish().unwrap();
}
