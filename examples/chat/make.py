"""A language model of half a million weights that talks about small things: model.pt2, tokenizer.json, tokenizer_config.json (PyTorch 2.13, transformers 5.18).

python make.py [FOLDER]

What it learns is written by the sentences below, put together by chance.
"""
import json
import math
import os
import random
import sys
import time

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from torch.export import Dim
from transformers import DynamicCache, LlamaConfig, LlamaForCausalLM
from transformers.integrations.executorch import register_dynamic_cache_export_support

LENGTH, BATCH, SECONDS, WIDTH, LAYERS = 128, 24, float(os.environ.get("SECONDS", 480)), 96, 4
USER, ANSWER, END = "<|user|>", "<|assistant|>", "<|end|>"
TEMPLATE = "{% for m in messages %}{{ '<|' + m.role + '|>' + m.content + '<|end|>' }}{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}"

ANIMALS = {
    "fox": ("red", "in a den under an old oak", "berries and mice", "quick"), "owl": ("grey", "in a hollow tree", "mice at night", "wise"), "hare": ("brown", "in the tall grass", "clover and herbs", "shy"),
    "bear": ("brown", "in a cave by the river", "honey and fish", "strong"), "duck": ("green", "on the quiet pond", "weeds and snails", "cheerful"), "cat": ("black", "in a warm house", "fish and milk", "curious"),
    "crow": ("black", "on the church tower", "seeds and crumbs", "clever"), "frog": ("green", "by the pond", "flies", "loud"), "mole": ("dark", "under the meadow", "worms", "busy"),
    "snail": ("yellow", "under a wet leaf", "lettuce", "slow"), "horse": ("white", "in the stable", "hay and apples", "gentle"), "bee": ("yellow", "in a hive", "nectar", "busy"),
}
NAMES = ["Ada", "Ben", "Cleo", "Dan", "Eva", "Finn", "Gina", "Hugo", "Ida", "Jon", "Kim", "Leo"]
PLACES = ["the river", "the market", "the old mill", "the forest", "the hill", "the library", "the harbour", "the garden"]
THINGS = ["a blue kite", "a small lamp", "a silver key", "a round stone", "a wooden boat", "a warm scarf", "a map", "an old book"]
WEATHER = ["the sun was shining", "it was raining", "a cold wind was blowing", "snow was falling", "there was thick fog"]
COLOURS = {"the sky": "blue", "grass": "green", "snow": "white", "a lemon": "yellow", "a tomato": "red", "coal": "black", "an orange": "orange"}
WORDS = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen"]
a = lambda noun: f"an {noun}" if noun[0] in "aeiou" else f"a {noun}"


def story(animal=None):
    pick = random.choice
    animal = animal or pick(list(ANIMALS))
    colour, home, food, nature = ANIMALS[animal]
    name, place, thing = pick(NAMES), pick(PLACES), pick(THINGS)
    return " ".join([
        pick([f"Once there was {a(nature)} {animal} called {name}.", f"{name} was {a(colour)} {animal} who lived {home}."]),
        pick([f"One morning {pick(WEATHER)}, and {name} went to {place}.", f"Every day {name} walked to {place} and looked for {food}."]),
        pick([f"There {name} found {thing}.", f"On the way {name} met {a(pick(list(ANIMALS)))}, who had lost {thing}.", f"Behind a tree lay {thing}."]),
        pick([f"\"What is this good for?\" asked the {animal}.", f"\"I will help you,\" said the {animal}.", f"The {animal} was glad and took it home."]),
        pick([f"In the evening they ate {food} together.", f"From that day on they were friends.", f"And then {name} slept well {home}."]),
    ])


def answer():
    pick = random.choice
    animal = pick(list(ANIMALS))
    colour, home, food, nature = ANIMALS[animal]
    kind = random.randrange(8)
    if kind == 0:
        return pick([f"What does {a(animal)} eat?", f"What do {animal}s like to eat?"]).replace("foxs", "foxes"), f"{a(animal).capitalize()} eats {food}."
    if kind == 1:
        return pick([f"Where does {a(animal)} live?", f"Where is the home of the {animal}?"]), f"The {animal} lives {home}."
    if kind == 2:
        thing = pick(list(COLOURS))
        return pick([f"What colour is {thing}?", f"Which colour has {thing}?"]), f"{thing.capitalize()} is {COLOURS[thing]}."
    if kind == 3:
        x, y = random.randrange(10), random.randrange(10)
        return pick([f"What is {WORDS[x]} plus {WORDS[y]}?", f"How much is {WORDS[x]} and {WORDS[y]}?"]), f"{WORDS[x].capitalize()} plus {WORDS[y]} is {WORDS[x + y]}."
    if kind == 4:
        return pick(["Hello!", "Hi!", "Good morning!"]), pick(["Hello! What would you like to know?", "Good day! Ask me about animals, colours or numbers."])
    if kind == 5:
        return pick(["Who are you?", "What can you do?"]), "I am a very small language model. I know a few animals, colours and numbers, and I tell stories."
    if kind == 6:
        return f"What is {a(animal)} like?", f"{a(animal).capitalize()} is {colour} and {nature}."
    return pick([f"Tell me a story about {a(animal)}.", f"Do you know a story with {a(animal)}?"]), story(animal)


def talk():
    if random.random() < 0.3:
        return story() + END
    return "".join(f"{USER}{question}{END}{ANSWER}{text}{END}" for question, text in (answer() for _ in range(random.randint(1, 3))))


def make_tokenizer(texts):
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(vocab_size=640, special_tokens=[END, USER, ANSWER], initial_alphabet=pre_tokenizers.ByteLevel.alphabet())
    tokenizer.train_from_iterator(texts, trainer)
    return tokenizer


def train(tokenizer):
    config = LlamaConfig(
        vocab_size=tokenizer.get_vocab_size(), hidden_size=WIDTH, intermediate_size=2 * WIDTH, num_hidden_layers=LAYERS, num_attention_heads=4, num_key_value_heads=2, max_position_embeddings=512,
        tie_word_embeddings=True, bos_token_id=None, eos_token_id=0, pad_token_id=0,
    )
    model = LlamaForCausalLM(config)
    print(sum(p.numel() for p in model.parameters()), "weights", flush=True)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3, weight_decay=0.05, betas=(0.9, 0.98))
    stream = []
    began, step = time.time(), 0
    while (spent := (time.time() - began) / SECONDS) < 1:
        while len(stream) < BATCH * (LENGTH + 1):
            stream += tokenizer.encode(talk()).ids
        ids = torch.tensor(stream[: BATCH * (LENGTH + 1)]).view(BATCH, LENGTH + 1)
        stream = stream[BATCH * (LENGTH + 1) :]
        for group in optimizer.param_groups:
            group["lr"] = 3e-3 * min(1, (step + 1) / 100) * (0.02 + 0.98 * 0.5 * (1 + math.cos(math.pi * spent)))
        logits = model(input_ids=ids[:, :-1], use_cache=False).logits
        loss = torch.nn.functional.cross_entropy(logits.flatten(0, 1), ids[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        step += 1
        if step % 100 == 0:
            print(step, round(loss.item(), 3), f"{time.time() - began:.0f} s", flush=True)
    return model.eval()


def export(model, path):
    register_dynamic_cache_export_support()
    b, s, p = Dim("b", max=64), Dim("s", max=512), Dim("p", max=511)
    heads, size = model.config.num_key_value_heads, WIDTH // model.config.num_attention_heads
    past = DynamicCache([(torch.zeros(2, heads, 5, size), torch.zeros(2, heads, 5, size)) for _ in range(LAYERS)])
    ids, pairs = torch.zeros(2, 3, dtype=torch.long), [{0: b, 2: p}] * LAYERS
    program = torch.export.export(
        model, (),
        {"input_ids": ids, "attention_mask": torch.ones(2, 8, dtype=torch.long), "position_ids": ids + torch.arange(5, 8), "past_key_values": past},
        dynamic_shapes={"input_ids": {0: b, 1: s}, "attention_mask": {0: b, 1: Dim.AUTO}, "position_ids": {0: b, 1: s}, "past_key_values": [pairs, pairs]}, strict=False,
    )
    for module in program.graph_module.modules():
        for node in module.graph.nodes if isinstance(module, torch.fx.GraphModule) else ():
            for note in ("stack_trace", "nn_module_stack", "source_fn_stack", "torch_fn", "from_node"):
                node.meta.pop(note, None)
    torch.export.save(program, path)


def main():
    folder = sys.argv[1] if len(sys.argv) > 1 else "."
    torch.manual_seed(0)
    random.seed(0)
    torch.set_num_threads(1)
    tokenizer = make_tokenizer([talk() for _ in range(4000)])
    tokenizer.save(f"{folder}/tokenizer.json")
    with open(f"{folder}/tokenizer_config.json", "w") as file:
        json.dump({"eos_token": END, "chat_template": TEMPLATE}, file, indent=1)
    model = train(tokenizer)
    for prompt in (f"{USER}What is two plus five?{END}{ANSWER}", f"{USER}Tell me a story about an owl.{END}{ANSWER}", "Once there was"):
        ids = torch.tensor([tokenizer.encode(prompt).ids])
        with torch.no_grad():
            print(tokenizer.decode(model.generate(ids, max_new_tokens=100, do_sample=False)[0].tolist(), skip_special_tokens=False), flush=True)
    export(model, f"{folder}/model.pt2")


if __name__ == "__main__":
    main()
