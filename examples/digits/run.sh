#!/usr/bin/env bash
# run.sh [TILEWISE]: classifies 1797 handwritten digits, one `tilewise run` a layer, and prints the
# accuracy of the result. Ends with an error if it is 90 % or less on the images held out of training.
# The layers' outputs stay in build/digits/.
set -euo pipefail
tilewise=build/release/tilewise
if (($#)); then tilewise=$(realpath "$1"); fi
cd "$(dirname "$0")/../.."

data=examples/digits
results=build/digits
mkdir -p "$results"

echo "hidden = relu(x w1 + b1)"
"$tilewise" run $data/x.npy $data/w1.npy --bias $data/b1.npy --activation relu -o $results/hidden.npy
echo
echo "scores = hidden w2 + b2"
"$tilewise" run $results/hidden.npy $data/w2.npy --bias $data/b2.npy -o $results/scores.npy
echo
/usr/bin/python3 $data/accuracy.py $results/scores.npy $data/labels.npy 1500
