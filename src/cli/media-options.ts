import type { ImageOptions, ImageSize } from '../index.js'
import type { OptionTable } from './options.js'
import { UsageError } from './usage-error.js'

/** How pictures become arguments, for commands that run models. */
export const PICTURE_OPTIONS = {
  image: {
    type: 'string',
    multiple: true,
    value: 'FILE.jpg|FILE.png',
    help: 'an argument that is a picture: float32[1, 3, height, width] from 0 to 1, prepared as torchvision does it',
  },
  size: { type: 'string', value: 'N', help: 'of pictures: resize the shorter side to N and keep N x N in the middle' },
  resize: { type: 'string', inUsage: false, value: 'N', help: 'of pictures: the shorter side alone, or HEIGHTxWIDTH' },
  crop: { type: 'string', inUsage: false, value: 'N', help: 'of pictures: the middle alone, or HEIGHTxWIDTH of it' },
  fit: {
    type: 'string',
    inUsage: false,
    value: 'N',
    help: 'of pictures, or HEIGHTxWIDTH: the whole one in the middle of that, with its proportions',
  },
  fill: { type: 'string', inUsage: false, value: 'BYTE', help: 'what is around it then, 0 without it' },
  filter: {
    type: 'string',
    inUsage: false,
    value: 'NAME',
    help: 'how pictures are resized: bilinear without it, nearest, bicubic or lanczos',
  },
  mean: {
    type: 'string',
    value: 'R,G,B',
    help: 'taken off pictures, 0.485,0.456,0.406 for most networks; one number is for all channels',
  },
  std: { type: 'string', value: 'R,G,B', help: 'what they are divided by then, 0.229,0.224,0.225 for most networks' },
  gray: { type: 'boolean', default: false, inUsage: false, help: 'of pictures: one channel' },
  bgr: { type: 'boolean', default: false, inUsage: false, help: 'of pictures: blue first' },
  batch: { type: 'boolean', default: false, help: 'all pictures as one argument, float32[pictures, 3, height, width]' },
} as const satisfies OptionTable

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
