"""Serves a model with llama.cpp's own server until told to stop: llama_server.py MODEL CONTEXT. Prints its URL."""

import signal
import sys

import xllamacpp

parameters = xllamacpp.CommonParams()
parameters.model.path = sys.argv[1]
parameters.n_ctx = int(sys.argv[2])
parameters.n_parallel = 1
parameters.cpuparams.n_threads = 1
parameters.port = 0
parameters.use_jinja = True
server = xllamacpp.Server(parameters)
sys.stdout.write(f"{server.listening_address}\n")
sys.stdout.flush()
signal.pause()
