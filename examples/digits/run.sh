#!/usr/bin/env bash
# run.sh [TILEWISE]: classifies 1797 handwritten digits, one `tilewise run` a layer, and prints the
# accuracy of the result. Ends with an error if it is 90 % or less on the images held out of training.
set -euo pipefail
tilewise=$(realpath "${1:-$(dirname "$0")/../../build/release/tilewise}")
cd "$(dirname "$0")"

results=$(mktemp -d)
trap 'rm -rf "$results"' EXIT

echo "hidden = relu(x w1 + b1)"
"$tilewise" run x.npy w1.npy --bias b1.npy --activation relu -o "$results/hidden.npy"
echo
echo "scores = hidden w2 + b2"
"$tilewise" run "$results/hidden.npy" w2.npy --bias b2.npy -o "$results/scores.npy"
echo
/usr/bin/python3 accuracy.py "$results/scores.npy" labels.npy 1500
