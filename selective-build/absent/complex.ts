import { HOW_TO_EXTEND } from '../../runtime/build.js'
import { PtliteError } from '../../runtime/error.js'

function absent(): never {
  throw new PtliteError('UNSUPPORTED_DTYPE', `complex tensors are not in this build${HOW_TO_EXTEND}`)
}

export { absent as pairsOf, absent as viewAsReal, absent as viewAsComplex, absent as partOf }
export { absent as complexSum, absent as complexProduct, absent as complexQuotient, absent as complexEqual }
export { absent as complexWhere, absent as complexFunction, absent as complexPair, absent as complexLogAddExp, absent as complexPower }
export {
  absent as complexFold,
  absent as onParts,
  absent as onPairs,
  absent as complexTruth,
  absent as complexLerp,
  absent as complexBilinear,
}
