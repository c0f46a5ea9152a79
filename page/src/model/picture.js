/** Pixels of a picture beyond which it is made smaller before it is handed on; networks take far less. */
const MAX_PIXELS = 4_000_000

/** Ways of bringing pixels into the range that networks are trained with, as imageToTensor takes them. */
export const SCALES = {
  unit: { label: '0 to 1', mean: 0, std: 1 },
  imagenet: { label: 'ImageNet', mean: [0.485, 0.456, 0.406], std: [0.229, 0.224, 0.225] },
  signed: { label: '−1 to 1', mean: 0.5, std: 0.5 },
  bytes: { label: '0 to 255', mean: 0, std: 1 / 255 },
}

/** The pixels of a file, as ImageData has them. Throws an Error where the browser cannot decode it. */
export async function pixelsOf(file) {
  let bitmap
  try {
    bitmap = await createImageBitmap(file, { colorSpaceConversion: 'none', premultiplyAlpha: 'none' })
  } catch {
    throw new Error(`${file.name ?? 'The file'} is no picture that this browser knows; try JPEG, PNG, WebP or AVIF`)
  }
  const scale = Math.min(1, Math.sqrt(MAX_PIXELS / (bitmap.width * bitmap.height)))
  const [width, height] = [Math.max(1, Math.round(bitmap.width * scale)), Math.max(1, Math.round(bitmap.height * scale))]
  const canvas = new OffscreenCanvas(width, height)
  const context = canvas.getContext('2d', { willReadFrequently: true })
  context.drawImage(bitmap, 0, 0, width, height)
  bitmap.close()
  return context.getImageData(0, 0, width, height)
}

/** Options of imageToTensor for a network that takes pictures of a size: the shorter side is brought to it, and the middle cut out. */
export function pictureOptions({ channels, height, width, scale, order = 'rgb' }) {
  const { mean, std } = SCALES[scale]
  const isGrey = channels === 1
  const one = (value) => (isGrey && Array.isArray(value) ? value[0] : value)
  const fit = height === width ? { resize: height, crop: height } : { resize: [height, width] }
  return { ...fit, channels, mean: one(mean), std: one(std), ...(isGrey || order === 'rgb' ? {} : { order }) }
}

/** What a network takes, where the shape of its argument is that of pictures: [n, 1 or 3, height, width]. */
export function pictureShape(shape) {
  if (shape?.length !== 4) return null
  const [, channels, height, width] = shape
  return [1, 3].includes(channels) ? { channels, height, width } : null
}
