import { check } from '../../runtime/error.js'
import { anything, boolean, oneOf, reading } from '../../runtime/tensor/check-arguments.js'
import { numberText } from '../../runtime/tensor/kind-of.js'
import type { Tensor } from '../../runtime/tensor/tensor.js'
import { readOptions } from '../../src/values/read-options.js'
import { callOperator } from '../../src/values/operators.js'
import { float } from '../../runtime/tensor/scalar.js'
import { tensor } from '../../src/values/tensor.js'
import { checkRate, checkSamples } from './checks.js'
import { melFilters, type MelScale } from './mel-filters.js'

/** What a network wants of a recording: the names and defaults are those of torchaudio's MelSpectrogram. */
export interface MelOptions {
  /** Frames a second. */
  readonly sampleRate: number
  /** Frames of one Fourier transform. Default 400. */
  readonly nFft?: number
  /** Frames of the Hann window, which stands in the middle of them. Default nFft. */
  readonly winLength?: number
  /** Frames from one transform to the next. Default half of winLength. */
  readonly hopLength?: number
  /** Default 128. */
  readonly nMels?: number
  /** Hz. Default 0. */
  readonly fMin?: number
  /** Hz. Default half of the rate. */
  readonly fMax?: number
  /** 2 (default) for power, 1 for magnitude. */
  readonly power?: number
  /** Whether the first transform is centred on the first frame, with the signal mirrored before it. Default true. */
  readonly center?: boolean
  /** Default 'htk'. */
  readonly melScale?: MelScale
  /** 'slaney' gives each filter the area 1. Default none. */
  readonly norm?: 'slaney'
  /** Of what is at least 1e-10. Default none. */
  readonly log?: 'natural' | 'log10' | 'decibel'
}

const TESTS = {
  ...{ sampleRate: anything, nFft: anything, winLength: anything, hopLength: anything, nMels: anything, fMin: anything, fMax: anything },
  ...{
    power: anything,
    center: boolean,
    melScale: oneOf('htk', 'slaney'),
    norm: oneOf('slaney'),
    log: oneOf('natural', 'log10', 'decibel'),
  },
} satisfies Record<keyof MelOptions, unknown>

/** What is bounded here is small beside the samples; larger values are slips. */
const MAX_FFT = 2 ** 20
const MAX_MELS = 4096
const FLOOR = 1e-10

/**
 * Energies by pitch and time, [nMels, steps] or [channels, nMels, steps] of samples [frames] or [channels, frames]: torchaudio's MelSpectrogram. Throws
 * INVALID_ARGUMENT for other tensors, for what is no option, and for fewer samples than one transform takes.
 */
export function melSpectrogram(samples: Tensor, options: MelOptions): Tensor<'float32'> {
  return reading(() => {
    const given = readOptions(options, TESTS, 'melSpectrogram()')
    checkSamples(samples)
    return spectrogramOf(samples, given)
  })
}

function spectrogramOf(samples: Tensor, options: MelOptions): Tensor<'float32'> {
  const { sampleRate, nFft = 400, winLength = nFft, hopLength = Math.floor(winLength / 2), nMels = 128 } = options
  checkRate(sampleRate, 'sampleRate')
  const { fMin = 0, fMax = sampleRate / 2, power = 2, center = true, melScale = 'htk', norm, log } = options
  checkCount(nFft, 'nFft', 2, MAX_FFT)
  checkCount(winLength, 'winLength', 1, nFft)
  checkCount(hopLength, 'hopLength', 1, MAX_FFT)
  checkCount(nMels, 'nMels', 1, MAX_MELS)
  check(
    typeof power === 'number' && power > 0 && power <= 8,
    () => `expected power to be a number above 0, 2 or 1 as a rule, found ${numberText(power)}`,
  )
  check(
    typeof fMin === 'number' && typeof fMax === 'number' && fMin >= 0 && fMin < fMax && fMax <= sampleRate,
    () => `expected fMin and fMax to be frequencies, 0 <= fMin < fMax, found ${numberText(fMin)} and ${numberText(fMax)}`,
  )
  const frames = samples.shape.at(-1)!
  const least = center ? Math.floor(nFft / 2) + 1 : nFft
  check(frames >= least, () => `a transform of ${nFft} frames needs at least ${least} samples, found ${frames}`)

  const bins = Math.floor(nFft / 2) + 1
  const { window, filters } = constantsOf(winLength, [bins, sampleRate / 2, nMels, [fMin, fMax], melScale, norm === 'slaney'])
  const waves = callOperator<Tensor>('aten::stft.center', [
    samples,
    nFft,
    hopLength,
    winLength,
    window,
    center,
    'reflect',
    false,
    true,
    true,
  ])
  const magnitudes = callOperator<Tensor<'float32'>>('aten::abs', [waves])
  const energies = power === 1 ? magnitudes : callOperator<Tensor<'float32'>>('aten::pow.Tensor_Scalar', [magnitudes, float(power)])
  return withLog(filters.matmul(energies), log)
}

interface Constants {
  readonly window: Tensor
  /** [nMels, bins] */
  readonly filters: Tensor<'float32'>
}

/** Elements of what is kept are no more than these. */
const MAX_KEPT = 2 ** 18

/** Those of the last call: who hears a stream in chunks wants the same ones each time, and they take longer than the rest. */
let kept: (Constants & { readonly key: string }) | undefined

function constantsOf(winLength: number, args: Parameters<typeof melFilters>): Constants {
  const key = [winLength, ...args].join()
  if (kept?.key === key) return kept
  const [bins, , nMels] = args
  const window = callOperator<Tensor>('aten::hann_window', [winLength])
  const filters = tensor(melFilters(...args), [nMels, bins])
  if (window.numel + filters.numel <= MAX_KEPT) kept = { key, window, filters }
  return { window, filters }
}

function withLog(energies: Tensor<'float32'>, log: MelOptions['log']): Tensor<'float32'> {
  if (log === undefined) return energies
  const bounded = callOperator<Tensor<'float32'>>('aten::clamp_min', [energies, float(FLOOR)])
  const logarithms = callOperator<Tensor<'float32'>>(log === 'natural' ? 'aten::log' : 'aten::log10', [bounded])
  return log === 'decibel' ? logarithms.mul(10) : logarithms
}

function checkCount(value: unknown, name: string, least: number, most: number): asserts value is number {
  const isCount = typeof value === 'number' && Number.isInteger(value) && value >= least && value <= most
  check(isCount, () => `expected ${name} to be a whole number from ${least} to ${most}, found ${numberText(value)}`)
}
