// Frames and small letters in the pixels of a picture { data, width, height } of RGBA.

// three dots wide and five high: a digit for each row from the top, whose bits 4, 2 and 1 are the dots from the left
const LETTERS = {
  ...{ a: '25755', b: '65656', c: '34443', d: '65556', e: '74647', f: '74644', g: '34553', h: '55755', i: '72227', j: '11152', k: '55655' },
  ...{ l: '44447', m: '57755', n: '65555', o: '25552', p: '65644', q: '25573', r: '65655', s: '34216', t: '72222', u: '55557', v: '55552' },
  ...{ w: '55775', x: '55255', y: '55222', z: '71247', 0: '75557', 1: '26227', 2: '71747', 3: '71717', 4: '55711', 5: '74717', 6: '74757' },
  ...{ 7: '71122', 8: '75757', 9: '75717', '.': '00002', '-': '00700', '%': '51245' },
}

/** Fills a rectangle, as far as it lies in the picture. */
export function fill({ data, width, height }, left, top, right, bottom, [r, g, b]) {
  for (let y = Math.max(0, top); y < Math.min(height, bottom); y++)
    for (let x = Math.max(0, left); x < Math.min(width, right); x++) data.set([r, g, b, 255], 4 * (y * width + x))
}

/** A frame, `thick` pixels wide. */
export function frame(image, [left, top, right, bottom], colour, thick) {
  fill(image, left, top, right, top + thick, colour)
  fill(image, left, bottom - thick, right, bottom, colour)
  fill(image, left, top, left + thick, bottom, colour)
  fill(image, right - thick, top, right, bottom, colour)
}

/** How many pixels wide a text is with dots of `size` pixels. */
export const widthOf = (text, size) => size * (4 * text.length + 1)

/** A line of text on a ground of its own, with dots of `size` pixels; what has no letter is a space. */
export function write(image, text, left, top, ink, ground, size) {
  fill(image, left, top, left + widthOf(text, size), top + 7 * size, ground)
  for (const [i, letter] of [...text.toLowerCase()].entries())
    for (const [row, bits] of [...(LETTERS[letter] ?? '00000')].entries())
      for (let column = 0; column < 3; column++)
        if (Number(bits) & (4 >> column)) {
          const [x, y] = [left + size * (1 + 4 * i + column), top + size * (1 + row)]
          fill(image, x, y, x + size, y + size, ink)
        }
}
