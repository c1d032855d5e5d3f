"""Small pages with odd markup."""

from __future__ import annotations

ODD = {
    "empty": "",
    "text alone": "word",
    "runs": "<div>one<p>two</p>three<p>four</p>five<br><br>six</div>",
    "images": "<p>a <img alt='a bee'> <img> <map><area alt=east href=e><area href=w></map>",
    "buttons": "<input type=submit value=Send><input><button>Go</button>",
    "links": "<p><a href=1>One</a> <a href=2>Two</a> | <a href=3>Three</a></p><a href='::'>x</a>",
    "marks": "<h2>Bees<a href='#b'>¶</a></h2><p>Text<sup><a href='#n'>1</a></sup>.",
    "hidden": "<p hidden>a<i>b</i></p><p>c<span class=sr-only>d</span><span hidden>e</span>",
    "hidden in capitals": "<P HIDDEN>a</P><P STYLE='DISPLAY:NONE'>b</P><P>c",
    "head": "<title>T</title><meta name=description content=D><bgsound><style>x</style><p>b",
    "custom": "<my-card>a<x-y>b</x-y></my-card><p>c<my-word>d</my-word></p><blink>e</blink>",
    "controls": "<p>a\x01b\x0bc&#x85;d&#xFFFE;</p>",
    "empty elements": "<p></p><ul><li></ul><span></span><hr><iframe></iframe><br>",
    "blank elements": "<head> </head><p> </p><ul> <li> </ul><span> </span>",
    "text outside": "<table>a<tr><td>b</table>c",
    "deep": "<div>" * 400 + "deep<p>deeper <i>x</i>" + "<img alt=y>",
    "siblings": "<p>x</p>" * 300,
    "frames": "<frameset><frame src=a></frameset>",
}
