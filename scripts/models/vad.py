"""Exports a network that hears voices, of the shape of Silero's for 16 kHz: python vad.py OUT [--from silero_vad.jit]

A call takes 512 samples (32 ms) behind the 64 before them, and the state of its LSTM, and gives the chance of a voice and the next state. Weights are those of the TorchScript file that
the package silero-vad brings along, or of its silero_vad_16k.safetensors, which is of another release.
"""
import torch
from torch import nn

from model_folder import Model, arguments


class Voice(nn.Module):
    def __init__(self):
        super().__init__()
        # cosines, then sines
        self.stft_conv = nn.Conv1d(1, 258, 256, stride=128, bias=False)
        self.conv1 = nn.Conv1d(129, 128, 3, padding=1)
        self.conv2 = nn.Conv1d(128, 64, 3, stride=2, padding=1)
        self.conv3 = nn.Conv1d(64, 64, 3, stride=2, padding=1)
        self.conv4 = nn.Conv1d(64, 128, 3, padding=1)
        self.lstm_cell = nn.LSTMCell(128, 128)
        self.final_conv = nn.Conv1d(128, 1, 1)
        angles = torch.arange(129).unsqueeze(1) * torch.arange(256) * (2 * torch.pi / 256)
        with torch.no_grad():
            self.stft_conv.weight.copy_((torch.cat([angles.cos(), -angles.sin()]) * torch.hann_window(256)).unsqueeze(1))

    def forward(self, samples, state):
        """`samples` [n, 576], `state` [2, n, 128], zeros before a recording: [n, 1], and the state after it."""
        x = nn.functional.pad(samples.unsqueeze(1), (0, 64), mode="reflect")
        real, imaginary = self.stft_conv(x).chunk(2, 1)
        x = (real.square() + imaginary.square()).sqrt()
        for layer in (self.conv1, self.conv2, self.conv3, self.conv4):
            x = layer(x).relu()
        hidden, cell = self.lstm_cell(x.squeeze(-1), (state[0], state[1]))
        chance = self.final_conv(hidden.relu().unsqueeze(-1)).sigmoid().squeeze(-1)
        return chance, torch.stack([hidden, cell])


# modules of the TorchScript file, by what they are here
NAMES = {"lstm_cell": "decoder.rnn", "final_conv": "decoder.decoder.2", **{f"conv{i + 1}": f"encoder.{i}.reparam_conv" for i in range(4)}}


def weights(path):
    if path.endswith(".safetensors"):
        from safetensors.torch import load_file

        return load_file(path)
    own = torch.jit.load(path).state_dict()
    found = {"stft_conv.weight": own["_model.stft.forward_basis_buffer"]}
    for name in Voice().state_dict():
        layer, kind = name.split(".")
        if layer in NAMES:
            found[name] = own[f"_model.{NAMES[layer]}.{kind}"]
    return found


def main():
    options = arguments(__doc__, ["silero-vad"]).parse_args()
    if options.source and not options.name:
        options.name = "silero-vad"
    model = Model(options)
    if options.source:
        network = Voice()
        network.load_state_dict(weights(options.source))
    else:
        torch.manual_seed(0)
        network = Voice()
    network.eval()
    generator = torch.Generator().manual_seed(8)
    state, calls = torch.zeros(2, 1, 128), []
    for _ in range(3):
        # louder each time, and with the state that the call before left
        calls.append({"samples": torch.randn(1, 576, generator=generator) * 0.02 * 3 ** len(calls), "state": state})
        with torch.no_grad():
            state = network(**calls[-1])[1]
    model.keep_calls(network, calls)
    model.save(torch.export.export(network, (), calls[0]))


if __name__ == "__main__":
    main()
