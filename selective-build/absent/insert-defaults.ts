import { absent } from '../../runtime/error.js'

export function insertDefaults(): never {
  throw absent('the default of an argument', 'MISSING_OPERATOR')
}
