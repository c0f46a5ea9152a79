export { numberFields as scaled } from './number-fields.js'
