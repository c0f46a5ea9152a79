import type { ImageOptions, ImageSize } from '../index.js'
import { UsageError } from './usage-error.js'

/** How pictures become arguments, for commands that run models. */
export const PICTURE_OPTIONS = {
  size: { type: 'string' },
  resize: { type: 'string' },
  crop: { type: 'string' },
  fit: { type: 'string' },
  fill: { type: 'string' },
  filter: { type: 'string' },
  mean: { type: 'string' },
  std: { type: 'string' },
  gray: { type: 'boolean', default: false },
  bgr: { type: 'boolean', default: false },
  batch: { type: 'boolean', default: false },
} as const

export const PICTURE_USAGE =
  '[--image FILE.jpg|FILE.png ... [--size N] [--mean R,G,B] [--std R,G,B] [--batch]] [--wav FILE.wav ... [--rate N] [--mel NAME=VALUE,...]]'
export const PICTURE_HELP = `      --image FILE    an argument that is a picture, JPEG or PNG: float32[1, 3, height, width] from 0 to 1. As torchvision does it,
      --size N        resize the shorter side to N and keep N x N in the middle; one of the two alone, N or HEIGHTxWIDTH:
      --resize N, --crop N
      --fit N         or HEIGHTxWIDTH: the whole picture in the middle of that, with its proportions, and around it
      --fill N        a byte, 0 without it
      --filter NAME   bilinear without it; nearest, bicubic or lanczos
      --mean R,G,B    taken off, and
      --std R,G,B     divided by: 0.485,0.456,0.406 and 0.229,0.224,0.225 for most networks; one number is for all
      --gray, --bgr   one channel; blue first
      --batch         all pictures as one argument, float32[pictures, 3, height, width]
      --wav FILE      an argument that is a recording: float32[1, frames] from -1 to 1, the mean of its channels
      --rate N        bring it to N frames a second
      --mel OPTIONS   its spectrogram, float32[1, nMels, steps], by options of melSpectrogram: nMels=80,nFft=400,hopLength=160,log=natural`

/** Values of these options. */
export interface PictureValues {
  readonly size?: string | undefined
  readonly resize?: string | undefined
  readonly crop?: string | undefined
  readonly fit?: string | undefined
  readonly fill?: string | undefined
  readonly filter?: string | undefined
  readonly mean?: string | undefined
  readonly std?: string | undefined
  readonly gray: boolean
  readonly bgr: boolean
}

/** Throws UsageError for what is no size, number or filter. */
export function pictureOptions({ size, resize = size, crop = size, fit, fill, filter, mean, std, gray, bgr }: PictureValues): ImageOptions {
  if (size !== undefined && !/^[1-9]\d{0,4}$/.test(size)) throw new UsageError(`--size: expected a number of pixels, found '${size}'`)
  if (fit === undefined ? fill !== undefined : resize !== undefined || crop !== undefined)
    throw new UsageError(fit === undefined ? '--fill goes with --fit' : '--fit goes with none of --size, --resize and --crop')
  return {
    ...(resize === undefined ? {} : { resize: sizeOf(resize, '--resize') }),
    ...(crop === undefined ? {} : { crop: sizeOf(crop, '--crop') }),
    ...(fit === undefined ? {} : { fit: sizeOf(fit, '--fit') }),
    ...(fill === undefined ? {} : { fill: byteOf(fill) }),
    ...(filter === undefined ? {} : { filter: filterOf(filter) }),
    ...(mean === undefined ? {} : { mean: numbersOf(mean, '--mean', gray) }),
    ...(std === undefined ? {} : { std: numbersOf(std, '--std', gray) }),
    channels: gray ? 1 : 3,
    order: bgr ? 'bgr' : 'rgb',
  }
}

function sizeOf(text: string, option: string): ImageSize {
  const [, height, width] = /^([1-9]\d{0,4})(?:x([1-9]\d{0,4}))?$/.exec(text) ?? []
  if (height === undefined) throw new UsageError(`${option}: expected a number of pixels or HEIGHTxWIDTH, found '${text}'`)
  return width === undefined ? Number(height) : [Number(height), Number(width)]
}

function byteOf(text: string): number {
  if (/^\d{1,3}$/.test(text) && Number(text) <= 255) return Number(text)
  throw new UsageError(`--fill: expected a byte from 0 to 255, found '${text}'`)
}

const FILTERS = ['nearest', 'bilinear', 'bicubic', 'lanczos'] as const

function filterOf(text: string): (typeof FILTERS)[number] {
  const known = FILTERS.find((one) => one === text)
  if (known === undefined) throw new UsageError(`--filter: expected ${FILTERS.join(', ')}, found '${text}'`)
  return known
}

function numbersOf(text: string, option: string, isGray: boolean): number | readonly number[] {
  const numbers = text.split(',').map((part) => (/^\s*-?(?:\d+\.?\d*|\.\d+)(?:e-?\d+)?\s*$/i.test(part) ? Number(part) : NaN))
  const isRight = numbers.every(Number.isFinite) && (numbers.length === 1 || numbers.length === (isGray ? 1 : 3))
  if (!isRight || (option === '--std' && numbers.includes(0)))
    throw new UsageError(
      `${option}: expected one number${isGray ? '' : ' or three with commas'}${option === '--std' ? ', none of them 0' : ''}, found '${text}'`,
    )
  return numbers.length === 1 ? numbers[0]! : numbers
}

/** `nMels=80,hopLength=160,log=natural`. Throws UsageError for what is not of this form. */
export function parseMel(text: string): Readonly<Record<string, unknown>> {
  const entries = text.split(',').map((part): [string, unknown] => {
    const [, name, value] = /^\s*([A-Za-z]+)=([\w.+-]+)\s*$/.exec(part) ?? []
    if (name === undefined || name === 'sampleRate')
      throw new UsageError(`--mel: expected options of melSpectrogram, such as nMels=80,hopLength=160,log=natural, found '${part}'`)
    return [name, value === 'true' || value === 'false' ? value === 'true' : Number.isNaN(Number(value)) ? value : Number(value)]
  })
  return Object.fromEntries(entries)
}
