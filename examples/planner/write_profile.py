#!/usr/bin/env python3
"""Writes what `trainyard plan --profile` and spec.plan.model ask for, from a PyTorch or a Keras model.

    from write_profile import write_profile
    write_profile("profile.json", model, example, batch_size=512)

`example` is one sample, with the batch dimension of 1 (a tensor or a tuple of them). In PyTorch the operations are
counted by torch.utils.flop_counter in a forward and a backward pass; in TensorFlow by its profiler in a forward
pass, three times. With `steps` of trainyard-measured runs, [([4, 4], 32, 0.381), ...] (workers on each node, samples
of a worker, seconds), the file has measurements as well.

As a program it writes the profile of a small model that it makes itself:

    python3 write_profile.py --framework pytorch profile.json
"""
import argparse
import json


def profile_of_torch(model, example):
    import torch
    from torch.utils.flop_counter import FlopCounterMode

    inputs = example if isinstance(example, tuple) else (example,)
    with FlopCounterMode(display=False) as counter:
        output = model(*inputs)
        first = output[0] if isinstance(output, (tuple, list)) else output
        first.sum().backward()
    trained = [p for p in model.parameters() if p.requires_grad]
    return {"parameters": sum(p.numel() for p in trained),
            "bytesPerParameter": max((p.element_size() for p in trained), default=4),
            "largestTensorBytes": max((p.numel() * p.element_size() for p in trained), default=0),
            "layers": sum(1 for m in model.modules() if any(True for _ in m.parameters(recurse=False))),
            "flopsPerSample": int(counter.get_total_flops()),
            "sampleBytes": sum(t.numel() * t.element_size() for t in inputs if isinstance(t, torch.Tensor))}


def profile_of_keras(model, example):
    import tensorflow as tf
    from tensorflow.python.framework.convert_to_constants import convert_variables_to_constants_v2
    from tensorflow.python.profiler.model_analyzer import profile
    from tensorflow.python.profiler.option_builder import ProfileOptionBuilder

    inputs = [tf.convert_to_tensor(each) for each in (example if isinstance(example, (tuple, list)) else (example,))]
    forward = tf.function(lambda *args: model(args[0] if len(args) == 1 else list(args)))
    graph = convert_variables_to_constants_v2(
        forward.get_concrete_function(*[tf.TensorSpec(each.shape, each.dtype) for each in inputs])).graph
    options = ProfileOptionBuilder(ProfileOptionBuilder.float_operation()).with_empty_output().build()
    operations = profile(graph, options=options).total_float_ops
    sizes = [int(w.shape.num_elements()) if hasattr(w.shape, "num_elements") else _product(w.shape)
             for w in model.trainable_weights]
    return {"parameters": sum(sizes), "bytesPerParameter": 4, "largestTensorBytes": 4 * max(sizes, default=0),
            "layers": len(model.layers), "flopsPerSample": 3 * int(operations),
            "sampleBytes": sum(int(tf.size(each)) * each.dtype.size for each in inputs)}


def _product(shape):
    result = 1
    for each in shape:
        result *= int(each)
    return result


def write_profile(path, model, example, batch_size=None, batch_per_worker=None, name=None, steps=()):
    """Exactly one of batch_size (of all workers) and batch_per_worker is needed."""
    if (batch_size is None) == (batch_per_worker is None):
        raise ValueError("give batch_size or batch_per_worker")
    is_torch = any(each.__module__.startswith("torch") for each in type(model).__mro__)
    profile = profile_of_torch(model, example) if is_torch else profile_of_keras(model, example)
    if name:
        profile["name"] = name
    if batch_size is not None:
        profile["batchSize"] = int(batch_size)
    else:
        profile["batchPerWorker"] = int(batch_per_worker)
    if steps:
        profile["measurements"] = [{"workersPerNode": list(workers), "batchPerWorker": int(batch),
                                    "stepMicroseconds": round(seconds * 1e6)} for workers, batch, seconds in steps]
    profile = {key: value for key, value in profile.items() if value not in (0, None)}
    with open(path, "w", encoding="utf-8") as file:
        json.dump(profile, file, indent=2)
        file.write("\n")
    return profile


def _example_model(framework):
    if framework == "pytorch":
        import torch

        model = torch.nn.Sequential(torch.nn.Linear(784, 512), torch.nn.ReLU(), torch.nn.Linear(512, 10))
        return model, torch.zeros(1, 784)
    import tensorflow as tf

    model = tf.keras.Sequential([tf.keras.Input((784,)), tf.keras.layers.Dense(512, activation="relu"),
                                 tf.keras.layers.Dense(10)])
    return model, tf.zeros((1, 784))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--framework", choices=["pytorch", "tensorflow"], default="pytorch")
    parser.add_argument("--batch-size", type=int, default=512)
    parser.add_argument("file")
    args = parser.parse_args()
    model, example = _example_model(args.framework)
    print(json.dumps(write_profile(args.file, model, example, batch_size=args.batch_size), indent=2))


if __name__ == "__main__":
    main()
