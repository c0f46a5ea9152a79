import {
  everyByte,
  isAlnum,
  isAlpha,
  isDigit,
  isLower,
  isPunct,
  isSpace,
  isUpper,
  mapBytes,
  toLower,
  toUpper,
} from './support/characters.js'

export function upper(self: string): string {
  return mapBytes(self, toUpper)
}

export function lower(self: string): string {
  return mapBytes(self, toLower)
}

export function swapcase(self: string): string {
  return mapBytes(self, (byte) => (isLower(byte) ? toUpper(byte) : toLower(byte)))
}

export function capitalize(self: string): string {
  return mapBytes(self, (byte, index) => (index === 0 ? toUpper(byte) : toLower(byte)))
}

/** Letters after anything but a letter in upper case, the others in lower case. */
export function title(self: string): string {
  let afterLetter = false
  return mapBytes(self, (byte) => {
    const mapped = afterLetter ? toLower(byte) : toUpper(byte)
    afterLetter = isAlpha(byte)
    return mapped
  })
}

export function isdigit(self: string): boolean {
  return self !== '' && everyByte(self, isDigit)
}

export function isspace(self: string): boolean {
  return self !== '' && everyByte(self, isSpace)
}

export function isalnum(self: string): boolean {
  return self !== '' && everyByte(self, isAlnum)
}

export function isalpha(self: string): boolean {
  return self !== '' && everyByte(self, isAlpha)
}

/** True for the empty string too. */
export function isprintable(self: string): boolean {
  return everyByte(self, (byte) => isAlnum(byte) || isPunct(byte) || byte === 0x20)
}

/** Letters and digits only, the first no digit: TorchScript does not take underscores. */
export function isidentifier(self: string): boolean {
  return self !== '' && !isDigit(self.charCodeAt(0)) && everyByte(self, isAlnum)
}

/** At least one letter, and no letter of lower case. */
export function isupper(self: string): boolean {
  return /[A-Z]/.test(self) && everyByte(self, (byte) => !isAlpha(byte) || isUpper(byte))
}

/** At least one letter, and no letter of upper case. */
export function islower(self: string): boolean {
  return /[a-z]/.test(self) && everyByte(self, (byte) => !isAlpha(byte) || isLower(byte))
}

export function istitle(self: string): boolean {
  let afterLetter = false
  const fits = everyByte(self, (byte) => {
    const ok = afterLetter ? !isUpper(byte) : !isLower(byte)
    afterLetter = isAlpha(byte)
    return ok
  })
  return fits && /[A-Z]/.test(self)
}
