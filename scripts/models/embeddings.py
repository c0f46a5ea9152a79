"""Exports a model that makes vectors of texts: python embeddings.py OUT [--like NAME | --from REPOSITORY]

The program takes any number of texts of any length up to what the model has places for.
"""
# first: where torchvision's compiled part does not load, it declares the operators that transformers' imports name
from model_folder import Model, arguments

import torch
from torch.export import Dim
from transformers import AutoModel, BertConfig, XLMRobertaConfig

BERT = dict(vocab_size=30522, max_position_embeddings=512, type_vocab_size=2)
SIZES = {
    "all-minilm-l6-v2": lambda: BertConfig(**BERT, hidden_size=384, intermediate_size=1536, num_hidden_layers=6, num_attention_heads=12),
    "e5-small-v2": lambda: BertConfig(**BERT, hidden_size=384, intermediate_size=1536, num_hidden_layers=12, num_attention_heads=12),
    "bge-base-en-v1.5": lambda: BertConfig(**BERT, hidden_size=768, intermediate_size=3072, num_hidden_layers=12, num_attention_heads=12),
    "multilingual-e5-small": lambda: BertConfig(
        vocab_size=250037, max_position_embeddings=512, type_vocab_size=2, hidden_size=384, intermediate_size=1536, num_hidden_layers=12, num_attention_heads=12
    ),
    "bge-m3": lambda: XLMRobertaConfig(
        vocab_size=250002, max_position_embeddings=8194, type_vocab_size=1, hidden_size=1024, intermediate_size=4096, num_hidden_layers=24, num_attention_heads=16
    ),
}


class Vectors(torch.nn.Module):
    """A vector for each token: pooling is the caller's."""

    def __init__(self, network):
        super().__init__()
        self.network = network

    def forward(self, input_ids, attention_mask):
        return self.network(input_ids=input_ids, attention_mask=attention_mask).last_hidden_state


def texts(lengths, vocabulary):
    """Tokens and masks of texts of these lengths, filled up."""
    generator = torch.Generator().manual_seed(3)
    ids, mask = torch.zeros(2, len(lengths), max(lengths), dtype=torch.long)
    for i, length in enumerate(lengths):
        ids[i, :length] = torch.randint(1000, vocabulary, (length,), generator=generator)
        mask[i, :length] = 1
    return {"input_ids": ids, "attention_mask": mask}


def main():
    parser = arguments(__doc__, list(SIZES))
    parser.add_argument("--pooling", choices=("mean", "cls"), default="mean", help="for the server: mean of MiniLM and E5, cls of BGE")
    options = parser.parse_args()
    model = Model(options)
    network = model.network(AutoModel, None if options.source else SIZES[options.like]())
    vectors = Vectors(network).eval()
    words = network.config.vocab_size
    calls = [texts([24], words), texts([40, 7, 128, 19, 64, 64, 90, 33], words)]
    model.keep_calls(vectors, calls)
    # those of XLM-RoBERTa begin behind the padding's
    places = network.config.max_position_embeddings - (2 if network.config.model_type == "xlm-roberta" else 0)
    sizes = {0: Dim("texts", max=256), 1: Dim("length", max=places)}
    model.save(torch.export.export(vectors, (), calls[1], dynamic_shapes={"input_ids": sizes, "attention_mask": sizes}))
    model.keep_json("config.json", {"text": {"task": "embed", "pooling": options.pooling}})
    model.keep_tokenizer(words)


if __name__ == "__main__":
    main()
