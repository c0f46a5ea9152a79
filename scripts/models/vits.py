"""Exports VITS (Piper, MMS) as two models, NAME-text and NAME-voice: python vits.py OUT [--like NAME | --from REPOSITORY]

The first says what each letter sounds like and how long, the second makes samples of that. Between them the caller repeats each letter as long as it is, and adds noise.
"""
import copy

# first: where torchvision's compiled part does not load, it declares the operators that transformers' imports name
from model_folder import Model, arguments

import torch
from torch.export import Dim
from torch.nn.utils import parametrize
from transformers import AutoTokenizer, VitsConfig, VitsModel
from transformers.models.vits import modeling_vits


def spline(inputs, widths, heights, derivatives, reverse=False, tail_bound=5.0, min_bin_width=1e-3, min_bin_height=1e-3, min_derivative=1e-3):
    """The flow of durations, backwards: a monotonic spline of rational quadratics from -5 to 5, and what is beyond as it is.

    That of transformers picks the numbers between by a mask, so that its sizes depend on values. This one computes all, and takes those beyond as they were.
    """
    count = widths.shape[-1]

    def knots(values, least):
        sizes = least + (1 - least * count) * values.softmax(-1)
        inner = 2 * tail_bound * sizes.cumsum(-1)[..., :-1] - tail_bound
        end = torch.full_like(inner[..., :1], tail_bound)
        found = torch.cat([-end, inner, end], -1)
        return found, found[..., 1:] - found[..., :-1]

    x, x_sizes = knots(widths, min_bin_width)
    y, y_sizes = knots(heights, min_bin_height)
    # those at both ends are 1
    ones = torch.ones_like(derivatives[..., :1])
    slopes = torch.cat([ones, min_derivative + torch.nn.functional.softplus(derivatives), ones], -1)
    within = inputs.clamp(-tail_bound, tail_bound)
    at = ((within.unsqueeze(-1) >= y).sum(-1, keepdim=True) - 1).clamp(0, count - 1)
    of = lambda values: values.gather(-1, at).squeeze(-1)
    size, slope, following, mean = of(y_sizes), of(slopes), of(slopes[..., 1:]), of(y_sizes / x_sizes)
    above, bend = within - of(y), slope + following - 2 * mean
    a = size * (mean - slope) + above * bend
    b = size * slope - above * bend
    c = -mean * above
    root = 2 * c / (-b - (b * b - 4 * a * c).clamp(min=0).sqrt())
    found = root * of(x_sizes) + of(x)
    return torch.where((inputs >= -tail_bound) & (inputs <= tail_bound), found, inputs), torch.zeros_like(inputs)


class Positions(modeling_vits.VitsAttention):
    """Moves of attention by the distance between letters, written so that a program takes any number of letters."""

    def _get_relative_embeddings(self, embeddings, length):
        at = torch.arange(2 * length - 1) - (length - 1) + self.window_size
        known = (at >= 0) & (at < embeddings.shape[1])
        return torch.where(known.unsqueeze(-1), embeddings[:, at.clamp(0, embeddings.shape[1] - 1)], 0.0)

    def _relative_position_to_absolute_position(self, x):
        at = torch.arange(x.shape[1])
        return x.gather(2, (at - at.unsqueeze(1) + x.shape[1] - 1).expand(x.shape[0], -1, -1))

    def _absolute_position_to_relative_position(self, x):
        count = x.shape[1]
        at = torch.arange(2 * count - 1) - (count - 1) + torch.arange(count).unsqueeze(1)
        return torch.where((at >= 0) & (at < count), x.gather(2, at.clamp(0, count - 1).expand(x.shape[0], -1, -1)), 0.0)


class Text(torch.nn.Module):
    """Letters [1, n] and noise [1, 2, n]: means and logarithms of variances [1, n, channels], and logarithms of durations in frames [1, n]."""

    def __init__(self, network):
        super().__init__()
        self.encoder, self.durations = network.text_encoder, network.duration_predictor
        self.is_random = network.config.use_stochastic_duration_prediction

    def forward(self, input_ids, noise):
        mask = torch.ones_like(input_ids).unsqueeze(-1).to(noise.dtype)
        found = self.encoder(input_ids=input_ids, padding_mask=mask)
        states, mask = found.last_hidden_state.transpose(1, 2), mask.transpose(1, 2)
        lengths = self.backwards(states, mask, noise) if self.is_random else self.durations(states, mask)
        return found.prior_means, found.prior_log_variances, lengths.squeeze(1)

    def backwards(self, states, mask, noise):
        """The predictor's own, with noise that is an argument."""
        predictor = self.durations
        states = predictor.conv_proj(predictor.conv_dds(predictor.conv_pre(states), mask)) * mask
        latents = noise
        # the second is left out by VITS, too
        for flow in [*reversed(predictor.flows[2:]), predictor.flows[0]]:
            latents, _ = flow(latents.flip(1), mask, global_conditioning=states, reverse=True)
        return latents[:, :1]


class Voice(torch.nn.Module):
    """Latents [1, channels, frames] to samples [1, frames x 256]."""

    def __init__(self, network):
        super().__init__()
        self.flow, self.decoder = network.flow, network.decoder

    def forward(self, latents):
        mask = torch.ones_like(latents[:, :1])
        return self.decoder(self.flow(latents, mask, None, reverse=True), None).squeeze(1)


SIZES = {
    # MMS: the defaults, and the number of letters of English
    "mms-tts": lambda: VitsConfig(vocab_size=38, sampling_rate=16000),
    # Piper, quality "medium"
    "piper-medium": lambda: VitsConfig(
        vocab_size=256, sampling_rate=22050, upsample_initial_channel=256, upsample_rates=[8, 8, 4], upsample_kernel_sizes=[16, 16, 8], resblock_kernel_sizes=[3, 5, 7],
        resblock_dilation_sizes=[[1, 2], [2, 6], [3, 12]],
    ),
    "vits-tiny": lambda: VitsConfig(
        vocab_size=40, hidden_size=16, num_hidden_layers=2, ffn_dim=24, flow_size=16, upsample_initial_channel=32, upsample_rates=[8, 8], upsample_kernel_sizes=[16, 16], resblock_kernel_sizes=[3, 5],
        resblock_dilation_sizes=[[1, 2], [1, 3]], prior_encoder_num_flows=2, prior_encoder_num_wavenet_layers=2, duration_predictor_num_flows=2, depth_separable_num_layers=2,
        posterior_encoder_num_wavenet_layers=2,
    ),
}


def write(options, name, network, calls, shapes):
    options = copy.copy(options)
    options.name = name
    model = Model(options)
    model.keep_calls(network, calls)
    model.save(torch.export.export(network, (), calls[-1], dynamic_shapes=shapes))
    return model


def main():
    options = arguments(__doc__, list(SIZES)).parse_args()
    model = Model(options, is_folder=False)
    network = model.network(VitsModel, None if options.source else SIZES[options.like]())
    config = network.config
    for layer in network.modules():
        # weights as they come out of weight normalization
        if parametrize.is_parametrized(layer, "weight"):
            parametrize.remove_parametrizations(layer, "weight")
    modeling_vits._unconstrained_rational_quadratic_spline = spline
    for layer in network.text_encoder.modules():
        if isinstance(layer, modeling_vits.VitsAttention):
            layer.__class__ = Positions
    generator = torch.Generator().manual_seed(9)
    random = lambda *sizes: torch.randn(sizes, generator=generator)
    letters = lambda count: {"input_ids": torch.randint(1, config.vocab_size, (1, count), generator=generator), "noise": 0.8 * random(1, 2, count)}
    text, voice = Text(network).eval(), Voice(network).eval()
    length, frames = Dim("letters", min=2, max=1024), Dim("frames", min=2, max=8192)
    folder = write(options, f"{model.name}-text", text, [letters(60), letters(23)], {"input_ids": {1: length}, "noise": {2: length}})
    folder.keep_json("voice.json", {"samplingRate": config.sampling_rate, "noise": config.noise_scale, "noiseOfDurations": config.noise_scale_duration, "rate": config.speaking_rate})
    if options.source:
        AutoTokenizer.from_pretrained(options.source).save_pretrained(folder.folder)
    else:
        folder.keep_json("vocab.json", {letter: i + 1 for i, letter in enumerate("abcdefghijklmnopqrstuvwxyz '-,.?!")})
    write(options, f"{model.name}-voice", voice, [{"latents": random(1, config.flow_size, count)} for count in (120, 64)], {"latents": {2: frames}})


if __name__ == "__main__":
    main()
