import { absent } from '../../runtime/error.js'

function missing(): never {
  throw absent('bfloat16')
}

export { missing as bfloat16Product, missing as convolveBfloat16 }
