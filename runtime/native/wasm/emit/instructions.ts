/** What follows an instruction's opcode: nothing, an offset in memory, a lane, both, 16 bytes, a number, or a local. */
export type Immediate = 'none' | 'memory' | 'lane' | 'memory-lane' | 'bytes' | 'i32' | 'f32' | 'index'

export type ValueType = 'i32' | 'f32' | 'v128'

export interface Instruction {
  /** Beyond 0xff: an opcode of the vector instructions, behind their prefix. */
  readonly opcode: number
  readonly immediate: Immediate
  readonly takes: readonly ValueType[]
  /** Null: nothing. */
  readonly gives: ValueType | null
}

export const VECTOR_PREFIX = 0xfd
const VECTOR = 0x10000

const TYPES: Readonly<Record<string, ValueType>> = { i: 'i32', f: 'f32', v: 'v128' }

/** `types` has a letter per type (i32, f32, v128), operands before the colon. */
function row(opcode: number, types: string, immediate: Immediate = 'none'): Instruction {
  const [takes, gives] = types.split(':') as [string, string]
  return { opcode, immediate, takes: [...takes].map((t) => TYPES[t]!), gives: gives === '' ? null : TYPES[gives]! }
}
const vector = (opcode: number, types: string, immediate: Immediate = 'none'): Instruction => row(VECTOR + opcode, types, immediate)

/** The instructions that generators write; docs: the WebAssembly specification, with its vector and relaxed vector instructions. */
export const INSTRUCTIONS = {
  'local.get': row(0x20, ':', 'index'),
  'local.set': row(0x21, ':', 'index'),
  'local.tee': row(0x22, ':', 'index'),

  'i32.load': row(0x28, 'i:i', 'memory'),
  'i32.load16_u': row(0x2f, 'i:i', 'memory'),
  'i32.load8_u': row(0x2d, 'i:i', 'memory'),
  'i32.store': row(0x36, 'ii:', 'memory'),
  'f32.load': row(0x2a, 'i:f', 'memory'),
  'f32.store': row(0x38, 'if:', 'memory'),
  'i32.const': row(0x41, ':i', 'i32'),
  'f32.const': row(0x43, ':f', 'f32'),

  'i32.eqz': row(0x45, 'i:i'),
  'i32.eq': row(0x46, 'ii:i'),
  'i32.lt_s': row(0x48, 'ii:i'),
  'i32.lt_u': row(0x49, 'ii:i'),
  'i32.gt_s': row(0x4a, 'ii:i'),
  'i32.le_s': row(0x4c, 'ii:i'),
  'i32.ge_s': row(0x4e, 'ii:i'),
  'i32.add': row(0x6a, 'ii:i'),
  'i32.sub': row(0x6b, 'ii:i'),
  'i32.mul': row(0x6c, 'ii:i'),
  'i32.and': row(0x71, 'ii:i'),
  'i32.shl': row(0x74, 'ii:i'),
  'i32.shr_u': row(0x76, 'ii:i'),

  'v128.load': vector(0, 'i:v', 'memory'),
  'v128.load8_splat': vector(7, 'i:v', 'memory'),
  'v128.load16_splat': vector(8, 'i:v', 'memory'),
  'v128.load32_splat': vector(9, 'i:v', 'memory'),
  'v128.store': vector(11, 'iv:', 'memory'),
  'v128.const': vector(12, ':v', 'bytes'),
  'i8x16.shuffle': vector(13, 'vv:v', 'bytes'),
  'i32x4.splat': vector(17, 'i:v'),
  'f32x4.splat': vector(19, 'f:v'),
  'i32x4.extract_lane': vector(27, 'v:i', 'lane'),
  'f32x4.extract_lane': vector(31, 'v:f', 'lane'),
  'i32x4.eq': vector(55, 'vv:v'),
  'i32x4.ne': vector(56, 'vv:v'),
  'i32x4.lt_s': vector(57, 'vv:v'),
  'i32x4.gt_s': vector(59, 'vv:v'),
  'f32x4.eq': vector(65, 'vv:v'),
  'f32x4.ne': vector(66, 'vv:v'),
  'f32x4.lt': vector(67, 'vv:v'),
  'f32x4.gt': vector(68, 'vv:v'),
  'f32x4.le': vector(69, 'vv:v'),
  'f32x4.ge': vector(70, 'vv:v'),
  'v128.not': vector(77, 'v:v'),
  'v128.and': vector(78, 'vv:v'),
  'v128.andnot': vector(79, 'vv:v'),
  'v128.or': vector(80, 'vv:v'),
  'v128.xor': vector(81, 'vv:v'),
  'v128.bitselect': vector(82, 'vvv:v'),
  'v128.any_true': vector(83, 'v:i'),
  'v128.load8_lane': vector(84, 'iv:v', 'memory-lane'),
  'v128.load16_lane': vector(85, 'iv:v', 'memory-lane'),
  'v128.load32_lane': vector(86, 'iv:v', 'memory-lane'),
  'v128.load64_lane': vector(87, 'iv:v', 'memory-lane'),
  'v128.store8_lane': vector(88, 'iv:', 'memory-lane'),
  'v128.store16_lane': vector(89, 'iv:', 'memory-lane'),
  'v128.store32_lane': vector(90, 'iv:', 'memory-lane'),
  'v128.store64_lane': vector(91, 'iv:', 'memory-lane'),
  'v128.load32_zero': vector(92, 'i:v', 'memory'),
  'v128.load64_zero': vector(93, 'i:v', 'memory'),
  'i8x16.narrow_i16x8_s': vector(101, 'vv:v'),
  'i8x16.narrow_i16x8_u': vector(102, 'vv:v'),
  'i16x8.narrow_i32x4_s': vector(133, 'vv:v'),
  'i16x8.narrow_i32x4_u': vector(134, 'vv:v'),
  'i16x8.extend_low_i8x16_s': vector(135, 'v:v'),
  'i16x8.extend_low_i8x16_u': vector(137, 'v:v'),
  'i32x4.extend_low_i16x8_s': vector(167, 'v:v'),
  'i32x4.extend_low_i16x8_u': vector(169, 'v:v'),
  'i32x4.extend_high_i16x8_u': vector(170, 'v:v'),
  'i32x4.shl': vector(171, 'vi:v'),
  'i32x4.shr_s': vector(172, 'vi:v'),
  'i32x4.shr_u': vector(173, 'vi:v'),
  'i32x4.add': vector(174, 'vv:v'),
  'i32x4.sub': vector(177, 'vv:v'),
  'f32x4.nearest': vector(106, 'v:v'),
  'f32x4.abs': vector(224, 'v:v'),
  'f32x4.neg': vector(225, 'v:v'),
  'f32x4.sqrt': vector(227, 'v:v'),
  'f32x4.add': vector(228, 'vv:v'),
  'f32x4.sub': vector(229, 'vv:v'),
  'f32x4.mul': vector(230, 'vv:v'),
  'f32x4.div': vector(231, 'vv:v'),
  'f32x4.pmin': vector(234, 'vv:v'),
  'f32x4.pmax': vector(235, 'vv:v'),
  'i32x4.trunc_sat_f32x4_s': vector(248, 'v:v'),
  'f32x4.convert_i32x4_s': vector(250, 'v:v'),

  // relaxed: a multiplication and an addition with one rounding or two, and masks of whole lanes
  'f32x4.relaxed_madd': vector(0x105, 'vvv:v'),
  'f32x4.relaxed_nmadd': vector(0x106, 'vvv:v'),
  'i32x4.relaxed_laneselect': vector(0x10b, 'vvv:v'),
} as const satisfies Record<string, Instruction>

export type Name = keyof typeof INSTRUCTIONS

export const isVector = ({ opcode }: Instruction): boolean => opcode >= VECTOR
export const vectorOpcode = ({ opcode }: Instruction): number => opcode - VECTOR
