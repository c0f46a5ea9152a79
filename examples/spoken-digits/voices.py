"""Voices that are made: the English names of digits, by a source of pulses and noise through the resonances of a vocal tract that moves."""
import numpy as np

RATE, STEP = 16000, 80
SPEED = RATE / STEP
BINS = np.arange(129) * RATE / 256

# the lowest three resonances in Hz, how loud the voice, the breath and the hiss are, the hiss's middle and width in Hz, and milliseconds
VOWELS = {
    "iy": (280, 2280, 3000), "ih": (400, 1980, 2560), "eh": (540, 1830, 2490), "ah": (640, 1200, 2420), "aa": (740, 1110, 2450),
    "ao": (560, 850, 2420), "uw": (310, 900, 2240), "ow": (490, 930, 2380), "ohw": (390, 790, 2300), "ey": (470, 2020, 2560),
    "eyy": (330, 2220, 2750), "ay": (730, 1180, 2450), "ayy": (390, 1980, 2550), "er": (480, 1330, 1680),
}  # fmt: skip
SOUNDS = {
    **{name: (*places, 1, 0.02, 0, 4000, 1000, 110) for name, places in VOWELS.items()},
    "w": (290, 640, 2200, 0.6, 0.01, 0, 4000, 1000, 55), "r": (330, 1100, 1500, 0.6, 0.01, 0, 4000, 1000, 60),
    "n": (260, 1500, 2600, 0.25, 0, 0, 4000, 1000, 70), "v": (250, 1050, 2300, 0.22, 0, 0.05, 5000, 4000, 60),
    "z": (260, 1600, 2550, 0.2, 0, 0.22, 5900, 1200, 90), "s": (320, 1700, 2600, 0, 0, 0.45, 6000, 1300, 110),
    "f": (340, 1100, 2300, 0, 0.01, 0.09, 4800, 4000, 100), "th": (320, 1350, 2600, 0, 0.01, 0.06, 5600, 3000, 90),
    "t": (350, 1750, 2650, 0, 0, 0, 4500, 1800, 55), "t!": (350, 1750, 2650, 0, 0.05, 0.5, 4500, 1700, 14), "th!": (370, 1750, 2650, 0, 0.3, 0, 4500, 1800, 35),
    "k": (330, 1900, 2400, 0, 0, 0, 2300, 700, 55), "k!": (330, 1900, 2400, 0, 0.06, 0.4, 2300, 700, 18),
}  # fmt: skip
WORDS = {
    "zero": ["z iy r ow ohw", "z ih r ow ohw"], "one": ["w ah n"], "two": ["t t! th! uw"], "three": ["th r iy"], "four": ["f ao er", "f ao ao", "f ao"],
    "five": ["f ay ayy v"], "six": ["s ih k k! s"], "seven": ["s eh v ah n", "s eh v n"], "eight": ["ey eyy t t!", "ey eyy t"], "nine": ["n ay ayy n"],
}  # fmt: skip
NAMES = list(WORDS)
SHORT = {"t", "t!", "th!", "k", "k!"}


def smooth(track, length):
    window = np.hanning(length + 2)[1:-1]
    padded = np.pad(track, ((length // 2, length - 1 - length // 2), (0, 0)), "edge")
    return np.stack([np.convolve(column, window / window.sum(), "valid") for column in padded.T], 1)


class Speaker:
    """What one voice has of its own."""

    def __init__(self, rng):
        size = rng.uniform(-1, 1)
        self.pitch = 150 * 1.75 ** (size + rng.uniform(-0.25, 0.25))
        self.scale = 1.12 * 1.14**size * np.array([rng.uniform(0.93, 1.07) for _ in range(3)])
        self.accent = {name: rng.normal(1, [0.07, 0.06, 0.03]) for name in SOUNDS}
        self.rate = rng.uniform(0.7, 1.5)
        self.tilt, self.breath, self.hiss = rng.uniform(0.6, 1.6), rng.uniform(0.3, 4), 2 ** rng.uniform(-1.3, 1.3)
        self.widths, self.flat = rng.uniform(0.7, 1.8), rng.uniform(0, 0.25)
        self.creak, self.wobble = rng.uniform(0, 0.03), rng.uniform(0, 0.02)
        self.melody, self.slur = rng.uniform(0, 0.25), rng.uniform(0.7, 1.5)

    def say(self, word, rng):
        """Samples of a digit's name, the loudest of which is 1."""
        tracks, hiss = self.tracks(word, rng)
        count = len(tracks)
        loud = tracks[:, 3:5] * np.hanning(count + 8)[4:-4, None].clip(0, 0.3) / 0.3
        gains = self.resonances(tracks[:, :3])
        t = np.linspace(0, 1, count)
        bend = rng.choice([-1, -0.5, 0.3, 1]) * self.melody * (t - 0.5) + self.melody * 0.4 * np.sin(np.pi * t)
        pitch = self.pitch * rng.uniform(0.88, 1.14) * (1 + bend + self.wobble * np.sin(2 * np.pi * rng.uniform(4, 7) * t * count / SPEED))
        pitch = pitch * (1 + smooth(rng.normal(0, 1, (count, 1)), 3)[:, 0] * self.creak)
        sound = self.voiced(pitch, gains, loud[:, 0] * 2 ** rng.uniform(-0.3, 0.3))
        breath = gains(BINS) * (loud[:, 1:2] * self.breath) * (BINS / 1000 + 0.2) ** -0.4
        sound = sound + noise(breath + hiss * self.hiss, rng)
        edge = np.minimum(1, np.minimum(np.arange(len(sound)), np.arange(len(sound))[::-1]) / (0.012 * RATE))
        return edge * sound / np.abs(sound).max()

    def tracks(self, word, rng):
        """What the table says, in steps of 5 ms, and the hiss's spectrum: sounds last longer or shorter, and run into each other."""
        ways = WORDS[word]
        names = ways[rng.integers(len(ways))].split()
        rows, last = [], len(names) - 1
        pace = self.rate * rng.uniform(0.85, 1.15)
        for i, name in enumerate(names):
            row = np.array(SOUNDS[name], float)
            row[:3] *= self.accent[name] * rng.normal(1, [0.03, 0.03, 0.015])
            row[:3] *= self.scale
            row[6:8] *= rng.uniform(0.88, 1.12)
            row[3:6] *= 2 ** rng.uniform(-0.4, 0.4)
            stretch = 1 if name in SHORT else rng.uniform(0.7, 1.35) * (rng.uniform(1, 1.5) if i == last else 1)
            steps = max(2, round(row[8] / 1000 * SPEED * stretch * (pace if name not in SHORT else pace**0.5)))
            rows += [row[:8]] * steps
        table = np.array(rows)
        places = smooth(table[:, :3], max(3, int(11 * self.slur * min(1.2, pace))))
        loud = smooth(table[:, 3:5], 5)
        spectrum = table[:, 5:6] * (np.exp(-(((BINS - table[:, 6:7]) / table[:, 7:8]) ** 2)) + self.flat)
        return np.concatenate([places, loud], 1), smooth(spectrum, 3)

    def resonances(self, places):
        """The gain of the vocal tract at frequencies, [steps, frequencies]."""
        upper = np.ones((len(places), 1)) * [3450 * self.scale[2], 4500 * self.scale[2]]
        centres = np.concatenate([places, upper], 1)[:, :, None]
        widths = self.widths * (50 + 0.04 * centres)

        def gains(frequencies):
            f = np.broadcast_to(np.asarray(frequencies, float), (len(places), np.shape(frequencies)[-1]))[:, None]
            return (centres**2 / np.sqrt((centres**2 - f**2) ** 2 + (widths * f) ** 2)).prod(1)

        return gains

    def voiced(self, pitch, gains, loud):
        """All overtones of the pitch below 7.6 kHz."""
        steps = len(pitch)
        at = np.arange(steps * STEP) / STEP
        wave = 2 * np.pi * np.cumsum(np.interp(at, np.arange(steps), pitch)) / RATE
        orders = np.arange(1, max(2, int(7600 / pitch.min())))
        harmonics = pitch[:, None] * orders
        strength = gains(harmonics) * loud[:, None] / orders**self.tilt * (harmonics < 7600)
        whole = np.minimum(at.astype(int), steps - 2)
        part = np.clip(at - whole, 0, 1)[:, None]
        strength = strength[whole] * (1 - part) + strength[whole + 1] * part
        # every overtone from the one before, by turning: exp(ikx) = exp(ix)^k
        turn = np.exp(1j * wave)
        power, sound = turn.copy(), np.zeros(len(wave))
        for k in range(len(orders)):
            sound += strength[:, k] * power.imag
            power *= turn
        return sound * 3


def noise(spectrum, rng):
    """Noise with such a spectrum in each step."""
    steps = len(spectrum)
    random = rng.normal(size=(steps, 129)) + 1j * rng.normal(size=(steps, 129))
    parts = np.fft.irfft(random * spectrum, 256) * np.hanning(256) * 4
    sound = np.zeros((steps + 3) * STEP + 256)
    for i in range(steps):
        sound[i * STEP : i * STEP + 256] += parts[i]
    return sound[128 - STEP // 2 :][: steps * STEP]


def room(sound, rng):
    """What comes back from the walls."""
    seconds = rng.uniform(0.05, 0.45)
    length = int(RATE * seconds)
    echo = rng.normal(size=length) * np.exp(-6.9 * np.arange(length) / length) * rng.uniform(0.02, 0.12)
    echo[0] = 1
    size = 1 << (len(sound) + length).bit_length()
    return np.fft.irfft(np.fft.rfft(sound, size) * np.fft.rfft(echo, size), size)[: len(sound)]


def coloured(count, tilt, rng):
    """Noise that is louder where it is lower."""
    size = 1 << (count - 1).bit_length()
    spectrum = (rng.normal(size=size // 2 + 1) + 1j * rng.normal(size=size // 2 + 1)) / np.maximum(np.arange(size // 2 + 1), size / 200) ** tilt
    sound = np.fft.irfft(spectrum, size)[:count]
    return sound / np.sqrt((sound**2).mean())


def other(count, rng):
    """What is no voice: hum, beeps, knocks."""
    t, sound = np.arange(count) / RATE, np.zeros(count)
    kind = rng.integers(3)
    if kind == 0:
        sound += sum(np.sin(2 * np.pi * rng.uniform(49, 121) * k * t) / k for k in range(1, 8)) * 0.3
    elif kind == 1:
        on = np.sin(2 * np.pi * rng.uniform(0.3, 2) * t + rng.uniform(0, 6)) > rng.uniform(-0.3, 0.9)
        sound += np.convolve(on, np.ones(200) / 200, "same") * np.sin(2 * np.pi * rng.uniform(300, 3500) * t)
    else:
        for at in rng.integers(0, count, rng.integers(1, 5)):
            knock = rng.normal(0, 1, 1200) * np.exp(-np.arange(1200) / rng.uniform(40, 250))
            sound[at : at + 1200] += knock[: count - at]
    return sound


def utterance(words, rng):
    """Words in a row, some of them without a pause: a list of samples, each of which is as loud as others or not."""
    gap = rng.choice([0, 0.04, 0.12, 0.3])
    parts = [np.zeros(int(RATE * rng.uniform(0.05, 0.4)))]
    for word in words:
        parts += [word * 2 ** rng.uniform(-0.7, 0.7), np.zeros(int(RATE * gap * rng.uniform(0.3, 1.6)))]
    parts.append(np.zeros(int(RATE * rng.uniform(0.1, 0.4))))
    return np.concatenate(parts)


def recorded(sound, rng, quiet=None):
    """As a microphone in a room has it. `quiet`: how many decibels the noise is below the voice; any without it."""
    if rng.random() < 0.6:
        sound = room(sound, rng)
    if rng.random() < 0.25 and quiet is None:
        sound = sound + other(len(sound), rng) * 10 ** rng.uniform(-2, -0.6)
    spoken = sound[np.abs(sound) > 0.02 * np.abs(sound).max()]
    level = np.sqrt((spoken**2).mean())
    sound = sound + level * 10 ** (-(rng.uniform(4, 45) if quiet is None else quiet) / 20) * coloured(len(sound), rng.uniform(0, 1), rng)
    size = 1 << (len(sound) - 1).bit_length()
    f = np.fft.rfftfreq(size, 1 / RATE)
    filter = (f / 1000 + 0.1) ** rng.uniform(-0.35, 0.35)
    if rng.random() < 0.35:
        # telephones and recordings of 8000 samples a second
        filter = filter * (f < rng.uniform(3300, 4200))
    if rng.random() < 0.3:
        filter = filter * f**2 / (f**2 + rng.uniform(80, 250) ** 2)
    sound = np.fft.irfft(np.fft.rfft(sound, size) * filter, size)[: len(sound)]
    return (sound / np.abs(sound).max() * 10 ** rng.uniform(-1.3, -0.05)).astype(np.float32)
