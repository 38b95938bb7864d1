#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Flame graphs: sound XML whatever the names, true to the log, and at work in
# a browser where there is one.
. "$(dirname "$0")/lib.sh"

kallsyms reference do_read - - - end
mod_kallsyms
${CC:-cc} -O1 -fPIE -pie -o "$tmp/main" "$HERE/programs/shapes.c"
log plain <<-EOF
	kernel $k reference
	event cpu-clock 1000000
	proc 7 prog
	module 0xffffffffc0100000 0x2000 mymod
	map 7 0x10000 0x1000 0 /x/lib
	map 7 0x20000 0x1000 0 /x/other
	sample 60 7 $k+0x1010 0x10010 0x20010
	sample 20 7 0xffffffffc0100010 $k+0x1010 0x10010 0x20010
	sample 9 7 0x20010
	sample 1 8 0x20010
	$(load 9 0 "$tmp/main")
	sample 10 9 $(symbol "$tmp/main" main)
EOF
svg=$tmp/x.svg
ok "it is made" "$pmclog" flame -o "$svg" "$tmp/plain"
ok "it is sound XML" xmllint --noout --nonet "$svg"

# attribute of the frame with that name
frame()
{
	xmllint --xpath "string(//*[local-name()='g'][starts-with(\
*[local-name()='title'], '$1
')]/$2)" "$svg"
}
ok "the root has all samples" same 100 frame all @data-n
ok "a frame has its share" same 80 frame '[lib]' @data-n
ok "and its place" same 11 frame '[other]' @data-x
ok "and its depth" same 4 frame do_read @data-d
ok "and says so" bash -c "grep -A1 '>do_read$' $svg |
	grep -q '^.kernel., 80 samples, 80.00 %, 60 itself</title>'"
hue()	# NAME FROM TO: the hue of its colour is within
{
	local h
	h=$(frame "$1" "*[local-name()='rect']/@fill")
	h=${h#hsl(}
	h=${h%%,*}
	[ "$h" -ge "$2" ] && [ "$h" -lt "$3" ]
}
ok "the kernel is blue" hue do_read 190 230
ok "modules are green" hue mod_func 120 165
ok "user code is warm" hue main 15 60
ok "a title" bash -c "$pmclog flame -t 'A & <B>' $tmp/plain |
	grep -q '>A &amp; &lt;B&gt;</text>'"
ok "to standard output" bash -c "$pmclog flame $tmp/plain | cmp - $svg"
ok "where it can't be written" exits 1 \
	"$pmclog" flame -o "$tmp/no/x.svg" "$tmp/plain"
ok "compressed" bash -c "$pmclog flame -o $tmp/x.svg.gz $tmp/plain &&
	gzip -dc $tmp/x.svg.gz | cmp - $svg"
log none <<<"event cpu-clock 1000"
ok "no samples, no graph" prints 1 "no samples to draw" \
	"$pmclog" flame -o "$tmp/none.svg" "$tmp/none"
echo precious >"$tmp/old.svg"
ok "and what was there stays" bash -c \
	"! $pmclog flame -o $tmp/old.svg $tmp/none &&
	 grep -q precious $tmp/old.svg && ! ls $tmp/*.svg.?*[^z]"
ok "to what is no file" bash -c \
	"$pmclog flame -o /dev/stdout $tmp/plain | cmp - $svg"

{
	echo "event cpu-clock 1000"
	echo "sample 50000 7 0x10"
	for i in {100..400}; do
		echo "proc $i p$i"
		echo "sample 1 $i 0x10"
	done
} | log narrow
ok "narrow frames are left out, and counted" bash -c \
	"$pmclog flame $tmp/narrow | grep -q '; 602 frames too narrow'"

# names that would like to be more than names
cat >"$tmp/evil.txt" <<-'EOF'
	event <script>alert(1)</script>&"' 1000
	host ]]><script>alert(2)</script> \x22onload=\x22alert(3)
	proc 7 </title><svg/onl
	proc 8 ]]>&lt;\x01\xff\xfe
	proc 9 \xef\xbf\xbf\xed\xa0\x80\xf4\x90\x80\x80
	map 7 0x10000 0x1000 0 /x/</text><script>alert(4)</script>
	map 7 0x20000 0x1000 0 /x/"onmouseover="alert(5)
	map 7 0x30000 0x1000 0 /x/--></style>]]><script>alert(6)</script>
	sample 5 7 0x10010 0x20010 0x30010
	sample 5 8 0x10
	sample 5 9 0x10
EOF
log evil <"$tmp/evil.txt"
ok "hostile names are drawn" "$pmclog" flame \
	-t '</text><script>alert(7)</script>' -o "$tmp/evil.svg" "$tmp/evil"
ok "and it is still sound XML" xmllint --noout --nonet "$tmp/evil.svg"
ok "and they can be read" bash -c \
	"grep -q '&quot;onmouseover=&quot;alert(5)' $tmp/evil.svg &&
	 grep -q '^.&lt;/title&gt;\|&lt;/text&gt;' $tmp/evil.svg"
ok "with one script, ours" same 1 xmllint --xpath \
	"count(//*[local-name()='script'])" "$tmp/evil.svg"
ok "and no handlers" same 0 xmllint --xpath \
	"count(//@*[starts-with(local-name(), 'on')])" "$tmp/evil.svg"
ok "nothing is fetched" bash -c \
	"! grep -oE '(https?:)?//[a-z][^\"< ]*' $svg |
	 grep -v '^http://www.w3.org/'"

browser=$(command -v chromium || command -v chromium-browser)
run_page()	# SVG SCRIPT: what the script leaves as the page's class
{
	DRIVE="try { $2 } catch (e) { out(e.message); }" awk '
		$0 == "})();" { print ENVIRON["DRIVE"] } { print }' \
		"$1" >"$tmp/driven.svg"
	timeout 90 "$browser" --headless --no-sandbox --disable-gpu \
		--disable-quic --no-first-run --disable-background-networking \
		--disable-component-update --disable-sync \
		--user-data-dir="$tmp/profile" --window-size=1000,700 \
		--dump-dom "file://$tmp/driven.svg" 2>/dev/null |
		grep -o 'data-out="[^"]*"'
}
out='function out(s) { svg.setAttribute("data-out", s); }'
pick='function pick(n) { return frames.filter(function (f) {
	return f.name === n; })[0]; }
	function w(n) { return Math.round(pick(n).rect.getAttribute("width")); }'
click='function click(n) { pick(n).rect.dispatchEvent(
	new MouseEvent("click", {bubbles: true})); }'
help=$(tr '\n\t' '  ' <<<"$out $pick $click")

in_browser()	# WANT SCRIPT [SVG]
{
	same "data-out=\"$1\"" run_page "${3:-$svg}" "$help $2"
}
if [ -n "$browser" ]; then
	ok "it fills the window" in_browser "979 783" \
		'out(w("all") + " " + w("[lib]"));'
	ok "hovering tells" in_browser \
		"do_read – [kernel], 80 samples, 80.00 %, 60 itself" \
		'pick("do_read").rect.dispatchEvent(
		 new MouseEvent("mouseover", {bubbles: true}));
		 out(id("info").textContent.replace(/ +/g, " "));'
	ok "a click zooms" in_browser "979 979 244 10 gone" \
		'click("do_read");
		 out(w("all") + " " + w("do_read") + " " + w("mod_func") + " " +
		 Math.round(pick("mod_func").rect.getAttribute("x")) + " " +
		 pick("?8").g.getAttribute("class"));'
	ok "the button goes back" in_browser "783 true" \
		'click("do_read"); id("reset").dispatchEvent(
		 new MouseEvent("click", {bubbles: true}));
		 out(w("do_read") + " " +
		 id("reset").classList.contains("gone"));'
	ok "search marks and adds up" in_browser \
		"matched: 80.00 %, 80 samples, 2 frames 1" \
		'field.value = "_FUNC|^\\[lib"; search();
		 out(id("matched").textContent + " " +
		 (pick("mod_func").hit ? 1 : 0));'
	ok "search in what is zoomed to" in_browser \
		"matched: 25.00 %, 20 samples, 1 frame" \
		'click("do_read"); field.value = "mod"; search();
		 out(id("matched").textContent);'
	ok "what was found stays marked in the zoom" in_browser "hit" \
		'field.value = "mod"; search(); click("do_read");
		 out(pick("mod_func").g.getAttribute("class").trim());'
	ok "a search that is no expression" in_browser \
		"matched: 80.00 %, 80 samples, 1 frame" \
		'field.value = "[lib"; search();
		 out(id("matched").textContent);'
	ok "Ctrl-F finds our field" in_browser "field" \
		'window.dispatchEvent(new KeyboardEvent("keydown",
		 {key: "f", ctrlKey: true}));
		 out(document.activeElement.id);'
	ok "text stays within its frame" in_browser "0" \
		'out(frames.filter(function (f) { return f.text &&
		 f.text.textContent && f.text.getComputedTextLength() >
		 +f.rect.getAttribute("width"); }).length);'
	ok "hostile names do nothing" in_browser "4 0" \
		'out(frames.filter(function (f) {
		 return f.d === 1; }).length + 1 + " " +
		 document.querySelectorAll("[onload],[onmouseover]").length);' \
		"$tmp/evil.svg"
else
	skip "in a browser" "no chromium"
fi

done_testing
