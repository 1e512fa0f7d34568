# The proxy in a container: docker build -t responses-proxy . && docker run -p 127.0.0.1:8080:8080 responses-proxy
# Its settings come in by environment, e.g. -e PROXY_BACKEND_URL=http://host.docker.internal:8000/v1 for a server on this machine
# (on Linux with --add-host host.docker.internal:host-gateway; the server must not listen on 127.0.0.1 alone), or in a file:
# -v ./proxy.toml:/proxy.toml:ro -e PROXY_CONFIG=/proxy.toml
# Responses are kept in a volume: -v responses-proxy:/var/lib/responses-proxy gives it a name, by which the next container
# finds it. -e PROXY_STORE_URL=off keeps nothing. Open streams have 20 s to end: docker stop -t 35 lets them.

FROM python:3.13-slim AS packages
COPY scripts/locks/run.txt /
RUN python -m venv /venv && /venv/bin/pip install --no-cache-dir --require-hashes --requirement /run.txt

FROM python:3.13-slim
RUN useradd --system --no-create-home --uid 10001 proxy && install -d -m 0700 -o proxy /var/lib/responses-proxy
COPY --from=packages /venv /venv
COPY proxy /app/proxy
RUN /venv/bin/python -m compileall -q /app/proxy
WORKDIR /app
# In a container, all addresses are the container's own: who reaches them is decided by the ports that are published, here
# to this machine alone. To publish them further, mount a configuration with tenants and set PROXY_OPEN=false.
ENV PATH=/venv/bin:$PATH PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1 PROXY_HOST=0.0.0.0 PROXY_PORT=8080 PROXY_OPEN=true
ENV STATE_DIRECTORY=/var/lib/responses-proxy
VOLUME /var/lib/responses-proxy
USER proxy
EXPOSE 8080
HEALTHCHECK --interval=10s --timeout=3s --start-period=5s \
  CMD ["python", "-c", "import os, urllib.request as web; web.urlopen(f\"http://127.0.0.1:{os.environ['PROXY_PORT']}/healthz\", timeout=2)"]
ENTRYPOINT ["python", "-m", "proxy"]
CMD ["serve"]
