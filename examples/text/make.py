"""Trains a small transformer to tell what a sentence asks for, and writes it with its labels and tokenizer: python make.py (PyTorch 2.13, tokenizers)"""
import collections
import pathlib
import random

import torch
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
from torch import nn

HERE = pathlib.Path(__file__).parent
# sentences of each class, and what their words in braces stand for
PATTERNS = {
    "alarm": ["wake me {up} {when}", "set an alarm {for} {when}", "{please} remind me {when}", "i have to get up {when}", "{please} cancel the alarm {when}", "snooze {please}", "let me sleep until {hour}", "start a timer of {count} minutes", "ring {when}"],
    "lights": ["{please} {turn} {the} {lamp} {place}", "{turn} {the} {lamp}", "{please} dim {the} {lamp} {place}", "it is too {dark} {place}", "make it {dark}er {place}", "{the} {lamp} {place} {should} be {colour}", "i want {colour} {lamp} {place}", "i cannot see {place}", "why is the {lamp} {place} still on"],
    "music": ["{please} play {some} {genre}", "play {some} {genre} {place}", "i want to hear {some} {genre}", "skip this {song}", "{please} make it {loud}er", "what is this {song} called", "turn the {song} {loud}er", "stop the {song}", "who sings this {song}", "the next {song} {please}"],
    "weather": ["will it {rain} {day}", "what is the weather like {day}", "do i need {gear} {day}", "how {warm} is it {out}", "is it going to {rain} {day}", "how {warm} will it be {day}", "is there a storm coming {day}", "when does the sun {set}", "should i take {gear} {out} {day}"],
}  # fmt: skip
WORDS = {
    "up": ["up", ""], "when": ["at {hour}", "at {hour} {day}", "in {count} minutes", "in {count} hours", "{day} at {hour}", "before {hour}"],
    "for": ["for", "to go off"], "please": ["please", "could you", "", ""], "hour": ["six", "seven", "half past eight", "nine", "noon", "ten thirty", "7", "8 30"],
    "count": ["two", "five", "ten", "twenty", "30", "45"], "day": ["today", "tomorrow", "on monday", "on sunday", "this evening", "this weekend", "tonight", "next week", ""],
    "turn": ["turn on", "turn off", "switch on", "switch off", "put on", "put out"], "the": ["the", "all", "my", "every"],
    "lamp": ["lamp", "lamps", "light", "lights", "ceiling light", "desk lamp", "bulb"],
    "place": ["in the kitchen", "in the bedroom", "upstairs", "in the hall", "in the garden", "downstairs", "in here", "by the door", ""],
    "dark": ["dark", "bright"], "should": ["should", "must", "shall"], "colour": ["red", "blue", "warm white", "green", "purple"],
    "some": ["some", "a bit of", "my", ""], "genre": ["jazz", "rock", "classical music", "songs from the eighties", "piano music", "blues", "hip hop", "favourite songs", "opera"],
    "song": ["song", "track", "music", "album", "record", "tune"], "loud": ["loud", "quiet", "soft"], "rain": ["rain", "snow", "freeze", "be sunny", "be windy", "get cold", "clear up"],
    "gear": ["an umbrella", "a coat", "sunglasses", "boots", "a scarf"], "warm": ["warm", "cold", "hot", "windy", "humid"], "out": ["outside", "out there", "in town", "at the beach"],
    "set": ["set", "rise"],
}  # fmt: skip
LABELS = list(PATTERNS)
PAD, UNKNOWN, START = 0, 1, 2


def sentence(kind, rng):
    text = rng.choice(PATTERNS[kind])
    while "{" in text:
        before, rest = text.split("{", 1)
        name, after = rest.split("}", 1)
        text = before + rng.choice(WORDS[name]) + after
    words = text.split()
    # a slip of the finger, so that pieces of words count, too
    if rng.random() < 0.25:
        i = rng.randrange(len(words))
        j = rng.randrange(len(words[i]))
        words[i] = words[i][:j] + words[i][j + 1 :] or words[i]
    return " ".join(words)


def vocabulary(sentences, size=360):
    """Letters, of which all else can be made, then the most frequent words and ends of words. Trainers of tokenizers find better ones, and other ones each time."""
    words = collections.Counter(word for text in sentences for word in text.split())
    parts = collections.Counter()
    for word, count in words.items():
        for i in range(1, len(word)):
            parts["##" + word[i : i + 4]] += count
    letters = sorted({letter for word in words for letter in word})
    common = [piece for piece, _ in sorted(words.items(), key=lambda one: (-one[1], one[0]))[:220]]
    common += [piece for piece, _ in sorted(parts.items(), key=lambda one: (-one[1], one[0]))]
    pieces = dict.fromkeys(["[PAD]", "[UNK]", "[CLS]", *letters, *("##" + letter for letter in letters), *common])
    return {piece: i for i, piece in enumerate(list(pieces)[:size])}


def make_tokenizer(sentences):
    tokenizer = Tokenizer(models.WordPiece(vocabulary(sentences), unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.TemplateProcessing(single="[CLS] $A", special_tokens=[("[CLS]", START)])
    return tokenizer


class Classifier(nn.Module):
    def __init__(self, words, width=24, longest=64):
        super().__init__()
        self.words = nn.Embedding(words, width, PAD)
        self.places = nn.Parameter(torch.randn(longest, width) * 0.02)
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(2))
        self.qkv, self.mix = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.wide, self.narrow = nn.Linear(width, 2 * width), nn.Linear(2 * width, width)
        self.out = nn.Linear(width, len(LABELS))

    def forward(self, ids):
        """Scores [sentences, classes] of ids [sentences, length], which 0 makes equally long."""
        is_word = ids != PAD
        x = self.words(ids) + self.places[: ids.shape[1]]
        q, k, v = self.qkv(self.norms[0](x)).unflatten(-1, (3, 4, -1)).permute(2, 0, 3, 1, 4)
        seen = nn.functional.scaled_dot_product_attention(q, k, v, is_word[:, None, None])
        x = x + self.mix(seen.transpose(1, 2).flatten(2))
        x = x + self.narrow(nn.functional.gelu(self.wide(self.norms[1](x))))
        weight = is_word[..., None].to(x.dtype)
        return self.out((x * weight).sum(1) / weight.sum(1))


def main():
    torch.manual_seed(0)
    rng = random.Random(0)
    tokenizer = make_tokenizer([sentence(kind, rng) for kind in LABELS for _ in range(4000)])
    tokenizer.enable_padding(pad_id=PAD, pad_token="[PAD]")

    def batch(count):
        kinds = [rng.randrange(len(LABELS)) for _ in range(count)]
        codes = tokenizer.encode_batch([sentence(LABELS[k], rng) for k in kinds])
        return torch.tensor([code.ids for code in codes]), torch.tensor(kinds)

    network = Classifier(tokenizer.get_vocab_size())
    steps = 400
    optimizer = torch.optim.AdamW(network.parameters(), 4e-3, weight_decay=0.05)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 6e-3, steps)
    for _ in range(steps):
        ids, kinds = batch(64)
        loss = nn.functional.cross_entropy(network(ids), kinds, label_smoothing=0.05)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
    network.eval()
    with torch.no_grad():
        ids, kinds = batch(2000)
        print(f"right: {(network(ids).argmax(1) == kinds).float().mean():.3f}, {tokenizer.get_vocab_size()} pieces of words")
        sizes = {0: torch.export.Dim("sentences", max=1024), 1: torch.export.Dim("length", min=2, max=64)}
        program = torch.export.export(network, (ids[:3, :8].clone(),), dynamic_shapes=(sizes,))
        for node in program.graph.nodes:
            node.meta.pop("stack_trace", None)  # paths of this machine
        torch.export.save(program, HERE / "intents.pt2")
    tokenizer.no_padding()
    tokenizer.save(str(HERE / "tokenizer.json"))
    (HERE / "labels.txt").write_text("\n".join(LABELS) + "\n")


if __name__ == "__main__":
    main()
