import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import t from 'tap'
import { type Image, type ImageOptions, imageToTensor, PtliteError, type Tensor, tensor, tensorToImage } from '../../src/index.js'

interface Case {
  readonly width: number
  readonly height: number
  readonly channels: number
  readonly options: ImageOptions
  readonly shape: readonly number[]
  readonly sha256: string
}

/** As make.py. */
function picture(width: number, height: number, channels: number): Uint8Array {
  const data = new Uint8Array(width * height * channels)
  let at = 0
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++)
      for (let c = 0; c < channels; c++)
        data[at++] = x * 7 + y * 13 + c * 31 + ((x * y) % 17) * 11 + ((Math.floor(x / 9) + Math.floor(y / 5)) % 2) * 90
  return data
}

const cases = JSON.parse(readFileSync(new URL('cases.json', import.meta.url), 'utf8')) as readonly Case[]

t.test("pictures become torchvision's tensors, bit for bit", (t) => {
  for (const { width, height, channels, options, shape, sha256 } of cases) {
    const result = imageToTensor({ data: picture(width, height, channels), width, height }, options)
    t.strictSame(result.shape, [1, ...shape])
    const bytes = result.data() as Float32Array
    t.equal(createHash('sha256').update(bytes).digest('hex'), sha256, `${width} x ${height} x ${channels} ${JSON.stringify(options)}`)
  }
  t.end()
})

t.test('what decoders give', (t) => {
  const [width, height] = [6, 4]
  const data = picture(width, height, 3)
  const plain = imageToTensor({ data, width, height })
  const sharp = imageToTensor({ data: Buffer.from(data), info: { width, height, channels: 3 } })
  t.strictSame(sharp.data(), plain.data())
  t.strictSame(imageToTensor({ data: Uint8ClampedArray.from(data), width, height }).data(), plain.data())
  const shared = new Uint8Array(new SharedArrayBuffer(data.length))
  shared.set(data)
  t.strictSame(imageToTensor({ data: shared, width, height }).data(), plain.data())
  t.strictSame(
    imageToTensor({ data, width, height }, { order: 'bgr' })
      .indexSelect(1, tensor([2n, 1n, 0n]))
      .data(),
    plain.data(),
  )
  const greyWithAlpha = new Uint8Array(2 * width * height).map((_, i) => (i % 2 === 0 ? data[i / 2]! : 9))
  const grey = imageToTensor({ data: data.slice(0, width * height), width, height }, { channels: 1 })
  t.strictSame(imageToTensor({ data: greyWithAlpha, width, height }, { channels: 1 }).data(), grey.data())
  t.end()
})

t.test('several pictures are a batch', (t) => {
  const [a, b] = [
    { data: picture(30, 20, 3), width: 30, height: 20 },
    { data: picture(16, 40, 4), width: 16, height: 40 },
  ]
  const options = { resize: 18, crop: 16, mean: 0.5, std: [0.2, 0.3, 0.4] }
  const both = imageToTensor([a, b], options)
  t.strictSame(both.shape, [2, 3, 16, 16])
  t.strictSame(both.slice(0, 0, 1).data(), imageToTensor(a, options).data())
  t.strictSame(both.slice(0, 1, 2).data(), imageToTensor(b, options).data())
  t.throws(() => imageToTensor([a, b], { resize: 18 }), {
    code: 'INVALID_ARGUMENT',
    message: /picture 1 comes to 18 x 45, the first one to 27 x 18/,
  })
  t.end()
})

t.test('whole pictures fit into a size', (t) => {
  const [wide, high] = [
    { data: picture(30, 20, 3), width: 30, height: 20 },
    { data: picture(10, 41, 4), width: 10, height: 41 },
  ]
  const options = { mean: 0.5, std: [0.2, 0.3, 0.4], order: 'bgr' } as const
  const both = imageToTensor([wide, high], { ...options, fit: [16, 24], fill: 114 })
  t.strictSame(both.shape, [2, 3, 16, 24])
  /** A picture's place, and that all around it is of one byte. */
  const holds = (found: Tensor, part: Tensor, left: number, top: number): void => {
    const [, , height, width] = part.shape
    t.strictSame(
      found
        .slice(2, top, top + height!)
        .slice(3, left, left + width!)
        .data(),
      part.data(),
    )
    const { data } = tensorToImage(found, options)
    const around = data.filter((_, i) => {
      const [x, y] = [Math.floor(i / 3) % 24, Math.floor(i / 72)]
      return x < left || x >= left + width! || y < top || y >= top + height!
    })
    t.equal(around.length, 3 * (24 * 16 - width! * height!))
    t.ok(around.every((byte) => byte === 114))
  }
  // scales 0.8 and 16 / 41
  holds(both.slice(0, 0, 1), imageToTensor(wide, { ...options, resize: [16, 24] }), 0, 0)
  holds(both.slice(0, 1, 2), imageToTensor(high, { ...options, resize: [16, 4] }), 10, 0)
  const odd = imageToTensor(wide, { fit: 27 })
  t.strictSame(odd.shape, [1, 3, 27, 27])
  t.strictSame(odd.slice(2, 4, 22).data(), imageToTensor(wide, { resize: [18, 27] }).data(), 'four rows above, five below')
  t.equal(Number(odd.slice(2, 0, 4).amax().item()) + Number(odd.slice(2, 22).amax().item()), 0)
  t.strictSame(imageToTensor({ data: picture(100, 1, 1), width: 100, height: 1 }, { fit: 10 }).shape, [1, 3, 10, 10])
  t.end()
})

const bytesOf = ({ data }: Image): number[] => [...data]

t.test('tensors become pictures', (t) => {
  const [width, height] = [5, 3]
  const data = picture(width, height, 3)
  const options = { mean: [0.485, 0.456, 0.406], std: [0.229, 0.224, 0.225], order: 'bgr' } as const
  const back = tensorToImage(imageToTensor({ data, width, height }, options), options)
  t.strictSame([back.width, back.height, back.channels], [width, height, 3])
  t.strictSame(bytesOf(back), [...data])
  const withAlpha = tensorToImage(imageToTensor({ data, width, height }), { alpha: true })
  t.strictSame(
    bytesOf(withAlpha),
    [...data].flatMap((x, i) => (i % 3 === 2 ? [x, 255] : [x])),
  )
  t.strictSame(bytesOf(tensorToImage(tensor([[[0.5 / 255, 1.5 / 255, -1, 2, NaN, Infinity, -Infinity]]]))), [0, 2, 0, 255, 0, 255, 0])
  t.strictSame(bytesOf(tensorToImage(tensor([[[7, 255]]], undefined, 'uint8'), { alpha: true })), [7, 7, 7, 255, 255, 255, 255, 255])
  const translucent = tensor([[[0, 1]], [[1, 0]], [[1, 1]], [[0.5, 1]]])
  t.strictSame(bytesOf(tensorToImage(translucent)), [0, 255, 255, 128, 255, 0, 255, 255])
  t.equal(tensorToImage(translucent.unsqueeze(0)).channels, 4)
  const shifted = { mean: [0, 0.2, 0], std: [1, 0.6, 1], order: 'bgr', alpha: true } as const
  t.strictSame(bytesOf(tensorToImage(translucent, shifted)), [255, 204, 0, 128, 255, 51, 255, 255])
  t.strictSame(bytesOf(tensorToImage(tensor([[[1]], [[2]], [[3]], [[4]]], undefined, 'uint8'))), [1, 2, 3, 4])
  t.strictSame(bytesOf(tensorToImage(tensor([[[0, 1]], [[1, 0]], [[1, 1]]]).permute([0, 2, 1]))), [0, 255, 255, 255, 0, 255])
  t.end()
})

t.test('what is refused', (t) => {
  const image = { data: picture(4, 4, 3), width: 4, height: 4 }
  const refused = (run: () => unknown, message: RegExp): void => {
    t.throws(run, { code: 'INVALID_ARGUMENT', message })
    t.throws(run, PtliteError)
  }
  refused(() => imageToTensor([]), /at least one image, found an empty list/)
  refused(() => imageToTensor({ ...image, width: 5 }), /5 x 4 pixels of 1 to 4 bytes does not have 48 bytes/)
  refused(() => imageToTensor({ ...image, channels: 4 }), /4 x 4 pixels of 4 bytes/)
  refused(() => imageToTensor({ ...image, height: 0 }), /expected the height of an image to be a whole number above 0, found 0/)
  refused(() => imageToTensor({ ...image, data: [1] as never }), /Uint8Array or a Uint8ClampedArray/)
  refused(() => imageToTensor(image, { crop: 5 }), /a picture of 4 x 4 has no part of 5 x 5/)
  refused(() => imageToTensor(image, { resize: 0 }), /expected resize to be a whole number from 1 to 65535/)
  refused(() => imageToTensor(image, { resize: [3] as never }), /one number or \[height, width\], found 1 of them/)
  refused(() => imageToTensor({ data: picture(400, 1, 1), width: 400, height: 1 }, { resize: 200 }), /would be 80000 long/)
  refused(() => imageToTensor(image, { mean: [0, 0] }), /expected mean to be one number or 3, found 2/)
  refused(() => imageToTensor(image, { std: [1, 0, 1] }), /expected std to be other than 0/)
  refused(() => imageToTensor(image, { std: 1e-300 }), /expected std to be other than 0/)
  refused(() => imageToTensor(image, { filter: 'cubic' as never }), /expected filter to be 'nearest' or 'bilinear'/)
  refused(() => imageToTensor(image, { size: 4 } as never), /size/)
  refused(() => imageToTensor(image, { fit: 4, resize: 4 }), /expected either fit, or resize and crop/)
  refused(() => imageToTensor(image, { fit: 4, crop: 4 }), /expected either fit, or resize and crop/)
  refused(() => imageToTensor(image, { fill: 4 }), /expected fit beside fill/)
  refused(() => imageToTensor(image, { fit: 4, fill: 256 }), /fill.* a whole number from 0 to 255/)
  refused(() => imageToTensor(image, { fit: [4] as never }), /expected fit to be one number or \[height, width\]/)
  refused(() => imageToTensor(image, { fit: 0 }), /expected fit to be a whole number from 1 to 65535/)
  refused(() => tensorToImage(tensor([[1, 2]])), /expected a tensor \[channels, height, width\] with 1, 3 or 4 channels, found \[1, 2\]/)
  refused(() => tensorToImage(tensor([[[1]], [[1]]])), /1, 3 or 4 channels/)
  refused(
    () => imageToTensor(Buffer.from([0xff, 0xd8, 0xff, 0xe0]) as never),
    /found the bytes of a JPEG file, which has to be decoded first: by sharp/,
  )
  refused(() => imageToTensor(Uint8Array.of(0x89, 0x50, 0x4e, 0x47).buffer as never), /found the bytes of a PNG file/)
  refused(() => imageToTensor(Buffer.from('RIFF0000WEBPVP8 ') as never), /found the bytes of a WebP file/)
  refused(() => imageToTensor(new Uint8Array(3) as never), /found bytes without sizes/)
  refused(() => imageToTensor('cat.jpg' as never), /found a string, which has to be decoded first/)
  let reads = 0
  const changing = { get channels() { return reads++ > 2 ? 1e9 : 3 } } // prettier-ignore
  t.strictSame(imageToTensor(image, changing as ImageOptions).shape, [1, 3, 4, 4])
  t.end()
})
