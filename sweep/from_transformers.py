"""Tiny networks of the architectures of transformers, with random weights: from_transformers.py FOLDER [TYPE ...]"""
import inspect
import sys

import exporting
import torch
import transformers
from transformers import CONFIG_MAPPING, AutoModel
from transformers.models.auto.modeling_auto import MODEL_MAPPING_NAMES

HIDDEN, HEADS, VOCABULARY, LENGTH, IMAGE = 32, 4, 96, 10, 64

# What a configuration is cut down to, where it has an attribute of the name.
TINY = dict(
    vocab_size=VOCABULARY, hidden_size=HIDDEN, d_model=HIDDEN, n_embd=HIDDEN, dim=HIDDEN, embedding_size=HIDDEN, embed_dim=HIDDEN, emb_dim=HIDDEN,
    word_embed_proj_dim=HIDDEN, projection_dim=16, decoder_hidden_size=HIDDEN, attention_hidden_size=HIDDEN, model_dim=HIDDEN,
    num_hidden_layers=2, n_layer=2, n_layers=2, num_layers=2, encoder_layers=2, decoder_layers=2, num_decoder_layers=2, num_encoder_layers=2,
    num_blocks=2, decoder_num_hidden_layers=2, num_hidden_groups=1, depth=2,
    num_attention_heads=HEADS, n_head=HEADS, n_heads=HEADS, num_heads=HEADS, encoder_attention_heads=HEADS, decoder_attention_heads=HEADS,
    decoder_num_attention_heads=HEADS, num_key_value_heads=2, num_kv_heads=2, head_dim=8, d_kv=8, attention_head_size=8, global_head_dim=8,
    intermediate_size=48, n_inner=48, ffn_dim=48, d_ff=48, hidden_dim=48, encoder_ffn_dim=48, decoder_ffn_dim=48, dim_feedforward=48,
    decoder_intermediate_size=48, moe_intermediate_size=24, shared_expert_intermediate_size=24, shared_intermediate_size=24, ffn_hidden_size=48,
    num_experts=4, num_local_experts=4, n_routed_experts=4, moe_num_experts=4, num_experts_per_tok=2, n_group=1, topk_group=1, first_k_dense_replace=1,
    max_position_embeddings=64, n_positions=64, n_ctx=64, max_source_positions=16, max_target_positions=32, sliding_window=8, attention_window=8,
    image_size=IMAGE, patch_size=16, num_channels=3, q_lora_rank=16, kv_lora_rank=16, qk_rope_head_dim=8, qk_nope_head_dim=8, v_head_dim=8,
    lora_rank_decay=8, mamba_d_state=8, state_size=8, ssm_state_size=8, mamba_expand=2, expand=2, conv_kernel=4, time_step_rank=4, mamba_n_heads=8, mamba_d_head=8,
    n_mamba_heads=2, mamba_num_heads=8, mamba_head_dim=8, mamba_n_groups=1, n_groups=1, chunk_size=8, mamba_chunk_size=8, intermediate_dim=48,
    rotary_dim=4, relative_attention_num_buckets=8, num_mel_bins=16, attention_hidden_dim=HIDDEN, lru_width=HIDDEN, hidden_size_per_layer_input=8,
    vocab_size_per_layer_input=VOCABULARY, num_kv_shared_layers=0, linear_num_key_heads=2, linear_num_value_heads=4, linear_key_head_dim=8, linear_value_head_dim=8,
    bottleneck_size=16, intra_bottleneck_size=16, true_hidden_size=16, num_feedforward_networks=2, type_vocab_size=2, max_2d_position_embeddings=128,
    conv_dim=[16, 16], conv_stride=[4, 2], num_feat_extract_layers=2, num_conv_pos_embeddings=8, num_conv_pos_embedding_groups=4, num_codevector_groups=2,
    backbone_out_indices=[1], out_features=None, pad_token_id=0, bos_token_id=1, eos_token_id=2, decoder_start_token_id=1, layerdrop=0.0,
    num_queries=8, encoder_num_layers=2, frequency_embedding_size=16, vision_hidden_size=HIDDEN, num_image_tokens=4,
)
# What some need beside; None leaves an attribute as it is.
SPECIAL = {
    "albert": dict(embedding_size=16),
    "electra": dict(embedding_size=16),
    "convnext": dict(hidden_sizes=[8, 16, 24, 32], depths=[1, 1, 2, 1], patch_size=4),
    "convnextv2": dict(hidden_sizes=[8, 16, 24, 32], depths=[1, 1, 2, 1], patch_size=4),
    "dinov3_convnext": dict(hidden_sizes=[8, 16, 24, 32], depths=[1, 1, 2, 1]),
    "swin": dict(embed_dim=16, depths=[1, 2], num_heads=[2, 4], patch_size=4, window_size=4),
    "swinv2": dict(embed_dim=16, depths=[1, 2], num_heads=[2, 4], patch_size=4, window_size=4),
    "donut-swin": dict(embed_dim=16, depths=[1, 2], num_heads=[2, 4], patch_size=4, window_size=4),
    "maskformer-swin": dict(embed_dim=16, depths=[1, 2], num_heads=[2, 4], patch_size=4, window_size=4),
    "swin2sr": dict(embed_dim=24, depths=[2, 2], num_heads=[2, 2], patch_size=1, window_size=8, image_size=32),
    "dinat": dict(embed_dim=16, depths=[1, 1], num_heads=[2, 4], patch_size=4),
    "focalnet": dict(embed_dim=16, depths=[1, 1], hidden_sizes=[16, 32], focal_levels=[2, 2], focal_windows=[3, 3], patch_size=4),
    "hiera": dict(embed_dim=16, depths=[1, 1, 2, 1], num_heads=[1, 2, 2, 4], patch_size=[7, 7], image_size=[64, 64]),
    "resnet": dict(hidden_sizes=[16, 24, 32, 48], depths=[1, 1, 1, 1], embedding_size=16),
    "rt_detr_resnet": dict(hidden_sizes=[16, 24, 32, 48], depths=[1, 1, 1, 1], embedding_size=16),
    "regnet": dict(hidden_sizes=[16, 24, 32, 48], depths=[1, 1, 1, 1], embedding_size=16, groups_width=8),
    "bit": dict(hidden_sizes=[16, 32, 32, 64], depths=[1, 1, 1, 1], embedding_size=16, num_groups=4),
    "cvt": dict(embed_dim=[8, 16, 32], num_heads=[1, 2, 4], depth=[1, 1, 2], patch_sizes=[7, 3, 3]),
    "pvt": dict(hidden_sizes=[8, 16, 24, 32], depths=[1, 1, 1, 1], num_attention_heads=[1, 2, 3, 4]),
    "pvt_v2": dict(hidden_sizes=[8, 16, 24, 32], depths=[1, 1, 1, 1], num_attention_heads=[1, 2, 3, 4]),
    "segformer": dict(hidden_sizes=[8, 16, 24, 32], depths=[1, 1, 1, 1], num_attention_heads=[1, 2, 3, 4], decoder_hidden_size=16),
    "glpn": dict(hidden_sizes=[8, 16, 24, 32], depths=[1, 1, 1, 1], num_attention_heads=[1, 2, 3, 4], decoder_hidden_size=16),
    "poolformer": dict(hidden_sizes=[8, 16, 24, 32], depths=[1, 1, 1, 1], patch_size=7),
    "levit": dict(hidden_sizes=[16, 24, 32], depths=[1, 1, 1], num_attention_heads=[2, 2, 4], key_dim=[8, 8, 8], kernel_size=3),
    "mobilevit": dict(hidden_sizes=[16, 24, 32], neck_hidden_sizes=[8, 8, 16, 16, 24, 32, 48], patch_size=2),
    "mobilevitv2": dict(width_multiplier=0.25, patch_size=2),
    "efficientnet": dict(hidden_dim=80, width_coefficient=0.25, depth_coefficient=0.3),
    "mobilenet_v1": dict(depth_multiplier=0.25),
    "mobilenet_v2": dict(depth_multiplier=0.25),
    "swiftformer": dict(depths=[1, 1, 1, 1], embed_dims=[16, 24, 32, 48]),
    "dpt": dict(neck_hidden_sizes=[8, 16, 24, 32], fusion_hidden_size=16, backbone_out_indices=[0, 1, 1, 1], readout_type="ignore"),
    "beit": dict(out_indices=None),
    "data2vec-vision": dict(out_indices=None),
    "vitdet": dict(window_block_indices=[0], window_size=2, image_size=64),
    "fnet": dict(),
    "mpt": dict(),
    "longformer": dict(attention_window=[4, 4]),
    "led": dict(attention_window=4),
    "xlnet": dict(d_inner=48),
    "xlm": dict(),
    "funnel": dict(block_sizes=[1, 1], d_inner=48, d_head=8),
    "reformer": dict(axial_pos_shape=[4, 4], axial_pos_embds_dim=[16, 16], feed_forward_size=48, attn_layers=["local", "lsh"], num_buckets=4, lsh_attn_chunk_length=4, local_attn_chunk_length=4, max_position_embeddings=16),
    "bigbird_pegasus": dict(attention_type="original_full"),
    "big_bird": dict(attention_type="original_full"),
    "rwkv": dict(),
    "jamba": dict(attn_layer_period=2, attn_layer_offset=1, expert_layer_period=2, expert_layer_offset=1, use_mamba_kernels=False, mamba_dt_rank=4),
    "mamba2": dict(num_heads=8, head_dim=8),
    "bamba": dict(attn_layer_indices=[1]),
    "zamba": dict(attn_layer_period=2, attn_layer_offset=1, use_mamba_kernels=False, attention_hidden_size=64, attention_head_dim=16),
    "nystromformer": dict(num_landmarks=4, segment_means_seq_len=10),
    "perceiver": dict(d_latents=HIDDEN, num_latents=8, num_blocks=1, num_self_attends_per_block=2, num_self_attention_heads=4, num_cross_attention_heads=4),
    "canine": dict(num_hash_functions=4, num_hash_buckets=64, local_transformer_stride=16, upsampling_kernel_size=4, downsampling_rate=4),
    "convbert": dict(),
    "squeezebert": dict(embedding_size=HIDDEN, q_groups=2, k_groups=2, v_groups=2, intermediate_groups=2, output_groups=2),
    "mobilebert": dict(embedding_size=16, hidden_size=32, intra_bottleneck_size=16, true_hidden_size=16),
    "deberta": dict(relative_attention=True, pos_att_type=["c2p", "p2c"]),
    "deberta-v2": dict(relative_attention=True, pos_att_type=["c2p", "p2c"], position_buckets=8),
    "whisper": dict(num_mel_bins=16, max_source_positions=16),
    "phi3": dict(original_max_position_embeddings=64),
    "lfm2": dict(layer_types=["conv", "full_attention"]),
    "recurrent_gemma": dict(block_types=["recurrent", "attention"], attention_window_size=8, num_key_value_heads=1),
    "gpt_neo": dict(attention_types=[[["global", "local"], 1]], window_size=4),
    "imagegpt": dict(vocab_size=VOCABULARY),
    "autoformer": dict(prediction_length=4, context_length=8, lags_sequence=[1, 2]),
    "patchtst": dict(num_input_channels=2, context_length=16, patch_length=4, patch_stride=4),
    "patchtsmixer": dict(num_input_channels=2, context_length=16, patch_length=4, patch_stride=4),
    "audio-spectrogram-transformer": dict(max_length=32, num_mel_bins=16, patch_size=8, frequency_stride=8, time_stride=8),
    "videomae": dict(num_frames=4, tubelet_size=2),
    "vivit": dict(num_frames=4, tubelet_size=[2, 16, 16]),
    "timesformer": dict(num_frames=2),
    "vjepa2": dict(frames_per_clip=2, crop_size=IMAGE),
    "git": dict(),
    "gemma4_text": dict(global_head_dim=16),
    "gemma4_unified_text": dict(global_head_dim=16),
    # attention over what an index selects goes by the data, which PyTorch cannot trace
    "qwen4_exp_text": dict(
        hc_count=2, hc_lowrank=8, ple_layer_ids=[1], ple_embed_dim=16, ngram_vocab_size_base=64, make_ngram_vocab_size_divisible_by=8, split_ngram_parts=4,
        heads_per_ngram=2, layer_types=["linear_attention", "linear_attention"], eos_token_id=2,
    ),
    "cosmos3_edge_text": dict(rope_parameters={"rope_type": "default", "rope_theta": 1e8, "mrope_section": [2, 1, 1]}),
    "sam_vision_model": dict(output_channels=HIDDEN, num_pos_feats=HIDDEN // 2),
    "sam_hq_vision_model": dict(output_channels=HIDDEN, num_pos_feats=HIDDEN // 2),
}
# Convolutions of networks on sound, as many kernels as strides and channels.
SOUND = dict(conv_dim=[16, 16], conv_stride=[4, 2], conv_kernel=[8, 3])
SKIPPED = {"timm_backbone", "timm_wrapper", "encoder-decoder", "vision-encoder-decoder", "speech-encoder-decoder", "rag"}


def tiny(kind):
    cls = CONFIG_MAPPING[kind]
    return build(cls, SPECIAL.get(kind, {}))


def has(config, key):
    """Whether a configuration has an attribute, which may be another one in each layer."""
    try:
        return hasattr(config, key)
    except Exception:
        return True


def build(cls, extra, depth=0):
    default = cls()
    if isinstance(getattr(default, "conv_kernel", None), (list, tuple)):
        extra = {**SOUND, **extra}
    values = {}
    for key in set(TINY) | set(extra):
        value = extra.get(key, TINY.get(key))
        if (key in extra or has(default, key)) and value is not None:
            try:
                now = getattr(default, key, None)
            except Exception:
                now = value
            if key not in extra and (isinstance(now, (list, tuple)) != isinstance(value, (list, tuple)) or now is None):
                continue
            values[key] = value
    for key, value in vars(default).items():
        if isinstance(value, transformers.PretrainedConfig) and depth < 3:
            kind = value.model_type
            values[key] = build(type(value), SPECIAL.get(kind, {}), depth + 1)
    for key in ("layer_types", "mlp_layer_types"):
        kinds = getattr(default, key, None)
        if kinds and key not in extra:
            several = list(dict.fromkeys(kinds))
            values[key] = (several * 2)[:2] if len(several) < 2 else several[:2]
    for key in ("sub_configs",):
        values.pop(key, None)
    try:
        return cls(**values)
    except Exception:
        layered = {key: value for key, value in values.items() if key not in ("layer_types", "mlp_layer_types")}
        return cls(**layered)


def inputs_of(config, model):
    """Two calls' inputs by the names that forward() takes."""
    accepted = inspect.signature(model.forward).parameters
    text = getattr(config, "text_config", config)
    vision = getattr(config, "vision_config", config)
    first = lambda value: value[0] if isinstance(value, (list, tuple)) else value
    calls = []
    for call in range(2):
        values = {}
        vocabulary = getattr(text, "vocab_size", None) or VOCABULARY
        vocabulary = first(vocabulary)
        if "input_ids" in accepted:
            length = getattr(config, "axial_pos_shape", None) and 16 or LENGTH
            values["input_ids"] = torch.randint(3, min(vocabulary, VOCABULARY), (2, length))
            if config.is_encoder_decoder and "decoder_input_ids" in accepted:
                values["decoder_input_ids"] = torch.randint(3, min(vocabulary, VOCABULARY), (2, 7))
            if "attention_mask" in accepted and config.model_type not in ("reformer", "rwkv", "mamba", "falcon_mamba", "mamba2", "xlstm"):
                mask = torch.ones(2, length, dtype=torch.long)
                mask[1, length - 2 - call :] = 0
                values["attention_mask"] = mask
            if "bbox" in accepted:
                box = torch.randint(0, 50, (2, length, 4))
                box[..., 2:] += box[..., :2]
                values["bbox"] = box
        # pictures of many sizes stand in the text, and towers of vision are networks of their own
        is_text = "input_ids" in accepted and any("grid" in name or "position_ids" in name and name != "position_ids" for name in accepted)
        if ("pixel_values" in accepted or "pixel_values_videos" in accepted) and not is_text:
            size = first(getattr(vision, "image_size", None) or IMAGE)
            size = size if isinstance(size, int) else IMAGE
            channels = getattr(vision, "num_channels", 3)
            frames = getattr(config, "num_frames", None)
            shape = (2, channels, size, size)
            if config.model_type in ("videomae", "vivit", "timesformer"):
                shape = (1, frames, channels, size, size)
            if config.model_type == "vjepa2":
                shape = (1, 2, 3, IMAGE, IMAGE)
            values["pixel_values" if "pixel_values" in accepted else "pixel_values_videos"] = torch.randn(shape)
        if "input_features" in accepted and not is_text:
            bins = getattr(config, "num_mel_bins", 16)
            frames = 2 * getattr(config, "max_source_positions", 16)
            values["input_features"] = torch.randn(1, bins, frames) if config.model_type == "whisper" else torch.randn(1, frames, bins)
            if "decoder_input_ids" in accepted:
                values["decoder_input_ids"] = torch.randint(3, VOCABULARY, (1, 6))
        if "input_values" in accepted:
            values["input_values"] = (
                torch.randn(1, config.max_length, config.num_mel_bins) if config.model_type == "audio-spectrogram-transformer" else torch.randn(1, 800)
            )
        if config.model_type == "perceiver":
            values = {"inputs": torch.randn(2, 12, config.d_model)}
        if config.model_type in ("patchtst", "patchtsmixer"):
            values = {"past_values": torch.randn(2, config.context_length, config.num_input_channels)}
        if not values:
            raise exporting.NotExportable(f"no inputs known for {list(accepted)[:6]}")
        calls.append(values)
    names = list(calls[0])
    return names, [tuple(values[name] for name in names) for values in calls]


def make(kind, attention):
    def network():
        config = tiny(kind)
        if getattr(config, "use_cache", None) is not None:
            config.use_cache = False
        options = {"attn_implementation": attention} if attention else {}
        with torch.device("meta"):
            empty = AutoModel.from_config(config, **options)
        count = sum(parameter.numel() for parameter in empty.parameters())
        if count > 20e6:
            raise exporting.NotExportable(f"{count / 1e6:.0f} million parameters are left")
        if attention and not getattr(empty, "_supports_sdpa", True):
            raise exporting.NotExportable("the same as without")
        exporting.seed(kind)
        model = AutoModel.from_config(config, **options).float().eval()
        names, calls = inputs_of(config, model)
        accepted = inspect.signature(model.forward).parameters
        options = {"return_dict": False} if "return_dict" in accepted else {}
        if "use_cache" in accepted:
            options["use_cache"] = False
        return model, calls, names, options

    return network


def main():
    transformers.logging.set_verbosity_error()
    folder, *chosen = sys.argv[1:]
    kinds = chosen or [kind for kind in MODEL_MAPPING_NAMES if kind not in SKIPPED]
    exporting.export_all(folder, [(f"{kind}-{attention}" if attention else kind, make(kind, attention)) for kind in kinds for attention in (None, "eager")])


if __name__ == "__main__":
    main()
