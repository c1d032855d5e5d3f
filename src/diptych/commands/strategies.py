"""`diptych strategies`: lists the recipes, and the strategies of each stage."""

from __future__ import annotations

import click


@click.command()
def strategies() -> None:
    """List recipes and the strategies of each stage."""
    from diptych import recipes, registry

    click.echo("recipes (--strategy NAME)")
    for name in recipes.names():
        default = " [default]" if name == recipes.DEFAULT else ""
        click.echo(f"  {name:<14} {recipes.read(name).get('about', '')}{default}")
    options = {"export": "format", "discover": "policy", "detect": "method"}
    for stage in registry.STRATEGIES:
        click.echo(f"\n{stage} (--{options.get(stage, stage.replace('_', '-'))} NAME)")
        for name, cls in sorted(registry.strategies(stage).items()):
            first = (cls.__doc__ or "").strip().partition("\n")[0]
            click.echo(f"  {name:<14} {first}")
