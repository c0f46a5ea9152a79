"""The networks that the benchmarks measure, in full size and with random weights: `make(name)` gives one and its input."""
import torch
from torch import nn

IMAGE = (1, 3, 224, 224)
VISION = (
    "mobilenet_v2",
    "mobilenet_v3_small",
    "squeezenet1_1",
    "shufflenet_v2_x1_0",
    "resnet18",
    "resnet50",
    "efficientnet_b0",
    "vit_b_16",
)
OTHERS = ("encoder", "lstm", "mlp", "mobilenet_v2_quantized")


class EncoderLayer(nn.Module):
    def __init__(self, width: int, heads: int):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)
        self.norm1 = nn.LayerNorm(width)
        self.norm2 = nn.LayerNorm(width)
        self.up = nn.Linear(width, 4 * width)
        self.down = nn.Linear(4 * width, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        n, length, width = x.shape
        q, k, v = self.qkv(x).view(n, length, 3, self.heads, width // self.heads).permute(2, 0, 3, 1, 4).unbind(0)
        weights = torch.softmax(torch.matmul(q, k.transpose(-2, -1)) * (width // self.heads) ** -0.5, -1)
        mixed = torch.matmul(weights, v).transpose(1, 2).reshape(n, length, width)
        x = self.norm1(x + self.out(mixed))
        return self.norm2(x + self.down(nn.functional.gelu(self.up(x))))


class Encoder(nn.Module):
    """BERT-style: token and position embeddings, 6 layers, tanh pooler on the first token."""

    def __init__(self, vocabulary: int = 16384, width: int = 384, heads: int = 12, layers: int = 6, length: int = 128):
        super().__init__()
        self.tokens = nn.Embedding(vocabulary, width)
        self.positions = nn.Parameter(torch.randn(1, length, width) * 0.02)
        self.norm = nn.LayerNorm(width)
        self.layers = nn.ModuleList([EncoderLayer(width, heads) for _ in range(layers)])
        self.pooler = nn.Linear(width, width)

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        x = self.norm(self.tokens(ids) + self.positions)
        for layer in self.layers:
            x = layer(x)
        return torch.tanh(self.pooler(x[:, 0]))


class Tagger(nn.Module):
    """Embedding, two bidirectional LSTM layers, log-probabilities of 32 tags for each of the tokens."""

    def __init__(self, vocabulary: int = 10000, width: int = 128, hidden: int = 256, tags: int = 32):
        super().__init__()
        self.embed = nn.Embedding(vocabulary, width)
        self.lstm = nn.LSTM(width, hidden, num_layers=2, batch_first=True, bidirectional=True)
        self.tag = nn.Linear(2 * hidden, tags)

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        x, _ = self.lstm(self.embed(ids))
        return torch.log_softmax(self.tag(x), -1)


def mlp() -> nn.Module:
    layers = []
    for _ in range(32):
        layers += [nn.Linear(16, 16), nn.ReLU()]
    return nn.Sequential(*layers)


def quantized_mobilenet() -> nn.Module:
    """torchvision's MobileNetV2 for QNNPACK, after calibration on random images."""
    import torchvision

    torch.backends.quantized.engine = "qnnpack"
    model = settle(torchvision.models.quantization.mobilenet_v2(weights=None, quantize=False))
    model.fuse_model(is_qat=False)
    model.qconfig = torch.ao.quantization.get_default_qconfig("qnnpack")
    torch.ao.quantization.prepare(model, inplace=True)
    with torch.no_grad():
        model(torch.randn(4, *IMAGE[1:]))
    return torch.ao.quantization.convert(model, inplace=True)


def settle(model: nn.Module) -> nn.Module:
    """Batch norms get the statistics of random images; what starts as zero gets other values."""
    for parameter in model.parameters():
        if parameter.dim() == 1 or parameter.abs().max() == 0:
            parameter.data.add_(0.05 * torch.randn_like(parameter))
    norms = [module for module in model.modules() if isinstance(module, nn.BatchNorm2d)]
    if norms:
        momenta = [norm.momentum for norm in norms]
        for norm in norms:
            norm.momentum = None  # the average of all passes
        model.train()
        with torch.no_grad():
            for _ in range(3):
                model(torch.randn(4, *IMAGE[1:]))
        for norm, momentum in zip(norms, momenta):
            norm.momentum = momentum
    return model.eval()


def make(name: str) -> tuple[nn.Module, torch.Tensor]:
    """The network called `name`, ready for inference, and an input for it."""
    if name == "encoder":
        return Encoder().eval(), torch.randint(0, 16384, (1, 128))
    if name == "lstm":
        return Tagger().eval(), torch.randint(0, 10000, (1, 32))
    if name == "mlp":
        return mlp().eval(), torch.randn(1, 16)
    if name == "mobilenet_v2_quantized":
        return quantized_mobilenet(), torch.randn(*IMAGE)
    import torchvision

    return settle(getattr(torchvision.models, name)(weights=None)), torch.randn(*IMAGE)
